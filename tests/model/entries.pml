/* ---- entries and stops: one inline is one SQL function, run inside one d_step ---------------- */
inline mint(r) {                             /* the enqueue is a part of the commit that needs it */
  nd++; assert(nd <= ND); r_did[r] = nd; d_run[nd] = r;
#ifndef FAULT_ENQUEUE_LATER
  d_st[nd] = ENQUEUED; nq++
#endif
}

inline pair_call(i) {                           /* an answer counts; without one it is abandoned */
  if
  :: c_st[i] == C_ANSWERED -> c_st[i] = C_CONSUMED
  :: c_st[i] == C_PENDING -> c_st[i] = C_ABANDONED
  :: else
  fi
}
inline pair_calls(r) {
  if
  :: c_run == r && r != 0 ->
     pair_call(0); pair_call(1);
#ifdef SC_CHILD
     ch = CH_DONE;
#endif
  :: else
  fi;
#ifdef REWINDS
  if :: r_tail[r] == 1 -> s_msgs++; r_tail[r] = 2 :: else fi
#endif
}

inline end_attempt(r) {
  r_own[r] = 0; taker[r] = 0;
#ifndef FAULT_END_KEEPS_ATTEMPT
  r_att[r]++; if :: st_run[SESS(r)] == r -> st_att[SESS(r)] = r_att[r] :: else fi
#endif
}

/* What an entry goes back to. A retry that names no checkpoint keeps all that stood before the step
 * in which the run failed, and so the input that it tries again. */
#ifdef REWINDS
#define BEFORE_FAILURE COUNT_AT(s_cur[0], r_cps[s_cur[0]])
inline rewind(keep, seen) {                 /* seen: how many runs there were when it was planned */
  assert(keep <= s_msgs);
  j = 1;
  do
  :: j <= NR ->
     if
     :: in_history[j] && r_base[j] > keep ->
        in_history[j] = 0; assert(j <= seen) /* nothing is taken back that its caller did not see */
     :: else
     fi;
#ifndef FAULT_REWIND_KEEPS_CHECKPOINTS
     do :: r_cps[j] > 0 && COUNT_AT(j, r_cps[j]) > keep -> r_cps[j]-- :: else -> break od;
#endif
     j++
  :: else -> break
  od;
  s_msgs = keep; j = 0
}
#endif

#define GOES_ON(drv, r) ((drv == CONT || drv == RESUME) && r_st[r] == SUSP && !LANDED(r))

/* what an accepted entry writes; ends: how the live run ends that it replaces */
inline insert_run(ss, k, d, drv, ends) {
  carry = 0; j = s_cur[ss];
  if
  :: j != 0 && LIVE(j) ->
     if
     :: GOES_ON(drv, j) ->
        assert(c_run != j || (c_st[0] != C_PENDING && c_st[1] != C_PENDING));
        continued[j] = 1; carry = r_stop[j]; named[nrun+1] = named[j];
        born_stopped[nrun+1] = r_stop[j];
        conts++; assert(conts <= 1)             /* one run goes on from it */
     :: else
     fi;
     pair_calls(j);
     if :: ends == BY_COMMIT -> n = ENDS_AS(j) :: else -> n = ends fi;
#ifdef FAULT_FINISH_PINS_RUNNING
     if :: r_st[j] != RUNNING -> n = SUPER :: else fi;
#endif
     set_status(j, n); n = 0;
#ifdef FAULT_RESUME_SETTLES
     if :: drv == RESUME -> set_t[j] = 1 :: else fi;
#endif
     end_attempt(j)
  :: else
  fi;
#ifdef FAULT_RESUME_DROPS_STOP
  if :: drv == RESUME -> carry = 0 :: else fi;
#endif
  nrun++;
  assert(nrun <= NR);                           /* a bound of the model */
  r_st[nrun] = RUNNING; r_key[nrun] = k; r_dig[nrun] = d; r_drive[nrun] = drv;
  r_stop[nrun] = carry; r_att[nrun] = 1;
#ifdef SC_CHILD
  r_sess[nrun] = ss;
#endif
#ifdef REWINDS
  if :: drv == FRESH -> s_msgs++; in_history[nrun] = 1 :: else fi;
  r_base[nrun] = s_msgs;
#endif
  s_cur[ss] = nrun; s_st[ss] = ACTIVE;
  st_run[ss] = nrun; st_att[ss] = 1; st_open[ss] = 1;
  mint(nrun);
  if
  :: drv != CONT ->
     runs_of_key[k]++; assert(k == 0 || runs_of_key[k] <= 1); /* a key names one run */
     appended[k]++; assert(k == 0 || appended[k] <= 1)        /* an input is appended once */
  :: else
  fi;
  carry = 0; j = 0
}

inline child_ended(seen) {                  /* in the commit that ends it, with the parent locked */
#ifdef SC_CHILD
  if
  :: ch == CH_AWAITED ->
     ch = CH_ENDED;
     if
#ifdef FAULT_PARENT_BEFORE_LOCK
     :: seen && COMPLETE -> insert_run(0, 0, 0, CONT, BY_COMMIT)
#else
     :: s_cur[0] == c_run && r_st[c_run] == SUSP && COMPLETE -> insert_run(0, 0, 0, CONT, BY_COMMIT)
#endif
     :: else
     fi
  :: else
  fi
#else
  skip
#endif
}

#define EXECUTES(r, late) (r != 0 && r_st[r]==RUNNING && !LANDED(r) \
  && ((r_own[r]!=0 && w_fresh[r_own[r]]) || (r_own[r]==0 && (w_fresh[1] || w_fresh[2] || !late))))
#define EXPECTED(x, er, es, ess) \
  (!(x) || (s_cur[0] == er && r_st[s_cur[0]] == es && s_st[0] == ess))
#ifdef FAULT_ORDER
#define NOT_PLANNED 0
#else
#define NOT_PLANNED (x && s_cur[0] != er)     /* not the run that this entry planned to interrupt */
#endif

/* where a session stands, and which drive it takes there */
#define STANDS (LANDED(s_cur[0]) -> ENDS_AS(s_cur[0]) : r_st[s_cur[0]])
#ifdef FAULT_RESUME_PARTIAL
#define AWAITS 0
#else
#define AWAITS (c_run == s_cur[0] && (c_st[0] == C_PENDING || c_st[1] == C_PENDING))
#endif
#define ADMITS(drv) (drv == FRESH || (s_cur[0] != 0 && ((drv == RETRY && STANDS == FAILED) \
  || (drv == RESUME && (STANDS == RUNNING || STANDS == INTR || STANDS == SUPER \
    || (STANDS == SUSP && !AWAITS))))))

inline find(k, h) {                             /* the holder of a key */
  h = 0; j = 1;
  do
  :: j <= NR -> if :: r_st[j] != NORUN && r_key[j] == k -> h = j :: else fi; j++
  :: else -> break
  od;
  j = 0
}

inline by_key(h, d) {                           /* what a repeated key gets */
  if
  :: h == 0 -> o = NOTHING
  :: h != 0 && r_dig[h] != d -> o = CONFLICT; got = h
  :: h != 0 && r_dig[h] == d && (LIVE(h) || h == s_cur[0]) -> o = ATTACHED; got = h
  :: h != 0 && r_dig[h] == d && !LIVE(h) && h != s_cur[0] -> o = COMPLETED; got = h
  fi
}

inline stop_write(r) {
  r_stop[r] = 1; if :: r_st[r] == RUNNING -> stopped_running[r] = 1 :: else fi
}
inline ask_to_stop(drv, x, er) {             /* the executing run, and only the one that is meant */
  stop_write(s_cur[0]); o = INTERRUPTING;
  if :: x && ADMITS(drv) -> named[er] = 1 :: !x && ADMITS(drv) -> named[s_cur[0]] = 1 :: else fi
}

/* start, resume and retry; late: the dispatch limit has passed */
inline entry_rule(drv, k, d, pol, x, er, es, ess, late, keep, seen) {
#ifndef FAULT_KEY_BEFORE_LOCK
  find(k, h);
  by_key(h, d);
#endif
  if
  :: o != NOTHING -> skip
  :: o == NOTHING && EXECUTES(s_cur[0], late) && (pol == REJECT || NOT_PLANNED) -> o = BUSY
  :: else ->
     if
#ifdef FAULT_RETRY_INTERRUPTS
     :: EXECUTES(s_cur[0], late) && drv == RETRY -> ask_to_stop(drv, x, er)
     :: !(EXECUTES(s_cur[0], late) && drv == RETRY) && !ADMITS(drv) -> o = REFUSED
#else
     :: !ADMITS(drv) -> o = REFUSED
#endif
     :: else ->
        if
#ifdef FAULT_ORDER                              /* interrupting above rejected */
        :: EXECUTES(s_cur[0], late) -> ask_to_stop(drv, x, er)
        :: !EXECUTES(s_cur[0], late) && !EXPECTED(x, er, es, ess) -> o = REJECTED
#else
#ifndef FAULT_STALE_REWIND
        :: !EXPECTED(x, er, es, ess) -> o = REJECTED
#endif
        :: EXPECTED(x, er, es, ess) && EXECUTES(s_cur[0], late) -> ask_to_stop(drv, x, er)
#endif
        :: else ->
#ifdef REWINDS
           if
           :: drv == RETRY && x == 0 -> h = BEFORE_FAILURE; rewind(h, 0)
           :: drv == RETRY && x == 1 -> rewind(keep, seen)
           :: else
           fi;
#endif
           insert_run(0, k, d, drv, BY_COMMIT); o = STARTED; got = nrun
        fi
     fi
  fi;
  check()
}

inline stop_rule(r) {                           /* names a run; only what is running takes a stop */
  if
  :: r != 0 && r_st[r] == RUNNING -> stop_write(r)
#ifdef STOPS_SUSPENDED
  :: r != 0 && r_st[r] == SUSP -> stop_write(r)
#endif
  :: else
  fi;
  check()
}

inline fail_session_without_run(ss) {
  if
#ifdef FAULT_NEVERRUN_LIVE                      /* no run is live, instead of: no run exists */
  :: s_st[ss] != NOSESSION && (s_cur[ss] == 0 || !LIVE(s_cur[ss])) ->
#else
  :: s_st[ss] != NOSESSION && s_cur[ss] == 0 ->
#endif
     assert(s_cur[ss] == 0); s_st[ss] = FAILED;
     if :: ss == 1 -> child_ended(seen) :: else fi
  :: else
  fi;
  check()
}
