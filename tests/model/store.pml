/* ---- what a store client calls, that runs sessions by itself --------------------------------- */
#ifdef STORES
/* fin: the status with which it says that the current run's terminal commit landed, or none */
#define EXECUTED (s_cur[0] != 0 && r_st[s_cur[0]] == RUNNING && r_own[s_cur[0]] != 0 \
  && w_fresh[r_own[s_cur[0]]])
#define FINISHES(fin) (LIVE(s_cur[0]) && LANDED(s_cur[0]) && t_st == fin)

inline commit_run_start(k, d, er, es, ess, fin) {
#ifndef FAULT_STORE_IGNORES_KEY
  find(k, h);
#endif
  if
  :: h != 0 -> o = CONFLICT; got = h            /* whoever holds it, and whatever became of it */
  :: h == 0 && (s_cur[0] != er || r_st[s_cur[0]] != es) -> o = REJECTED
  :: else ->
     if
#ifdef FAULT_OWNER_FIRST
     :: EXECUTED -> o = BUSY
     :: !(EXECUTED) && fin != 0 && !(FINISHES(fin)) -> o = REJECTED
#else
     :: fin != 0 && !(FINISHES(fin)) -> o = REJECTED
     :: fin == 0 && EXECUTED -> o = BUSY
#endif
     :: else ->
        if
#ifndef FAULT_STORE_IGNORES_SESSION
        :: s_st[0] != ess -> o = REJECTED
#endif
        :: else ->
           n = (fin != 0 -> fin : SUPER);
           insert_run(0, k, d, FRESH, n); o = STARTED; got = nrun
        fi
     fi
  fi;
  assert(!(o == BUSY && fin != 0));             /* a run that is seen to be over keeps nobody out */
  check()
}

inline commit_terminal(r, s) {
  if
  :: s_cur[0] != r -> o = FENCED
  :: s_cur[0] == r && LANDED(r) -> if :: t_st == s -> o = OK :: else -> o = REFUSED fi
  :: s_cur[0] == r && !LANDED(r) && TERM(r) && r_st[r] != s -> o = REFUSED
  :: else ->
     t_run = r; t_st = s; s_st[0] = s; taker[r] = 0; o = OK; /* whose it is stays on the row */
#ifndef FAULT_TERMINAL_NO_FENCE
     r_att[r]++; st_att[0] = r_att[r]
#endif
  fi;
  check()
}

inline update_run_status(r, s) {
  if
#ifndef FAULT_REWRITES_TERMINAL
  :: TERM(r) -> o = (r_st[r] == s -> NOTHING : REFUSED)
#endif
  :: else ->
     set_status(r, s); o = OK;
     if :: s == RUNNING -> st_open[0] = 1 :: else -> end_attempt(r) fi;
     if :: s >= DONE -> pair_calls(r) :: else fi;
     if                                         /* a live status is as good as the session's own */
     :: s_cur[0] == r && !LANDED(r) -> s_st[0] = s
     :: else
     fi
  fi;
  check()
}

inline close_stream(r) {
  if
#ifdef FAULT_CLOSE_ANY_RUN                      /* closes the stream without saying whose it is */
  :: st_open[0] -> st_open[0] = 0; st_att[0]++; r_att[st_run[0]]++; o = OK
#else
  :: st_run[0] == r && st_open[0] && r_st[r] != RUNNING ->
     st_open[0] = 0; st_att[0]++; r_att[r]++; o = OK
#endif
  :: else -> o = REFUSED
  fi;
  check()
}
#endif
