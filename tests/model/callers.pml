/* ---- who else calls -------------------------------------------------------------------------- */
inline plan() {                                 /* one read, without a lock */
  er = s_cur[0]; es = r_st[s_cur[0]]; ess = s_st[0];
  find(k, h); by_key(h, d);
#ifdef REWINDS
  if                                            /* some checkpoint of run 1, while it has any */
  :: r_cps[1] > 0 -> keep = COUNT_AT(1, 1)
  :: r_cps[1] > 1 -> keep = COUNT_AT(1, 2)
  :: r_cps[1] == 0 -> keep = BEFORE_FAILURE
  fi;
  saw = nrun
#endif
}

proctype Client(byte drv; byte k; byte d; byte pol; byte tries; bit planned) {
  byte o, got, h, n, j, mine, er, es, ess, keep, saw; bit carry, late, seen;
#ifndef SC_ENTRY
  s_cur[0] != 0;                                /* it comes to a session that is there */
#endif
  do
  :: tries == 0 -> break
  :: tries > 0 ->
     atomic { tries--; plan() }
     if
     :: o != NOTHING -> skip                    /* a repeated key is answered by the plain read */
     :: o == NOTHING ->                         /* here: resolver, model, before_entry */
        if :: late = 0 :: late = 1 fi;
        d_step {
          if
          :: drv == FRESH -> entry_rule(FRESH, k, d, pol, planned, er, es, ess, late, keep, saw)
#ifdef SC_RESUME
          :: drv == RESUME -> entry_rule(RESUME, k, d, pol, planned, er, es, ess, late, keep, saw)
#endif
#ifdef SC_RETRY
          :: drv == RETRY -> entry_rule(RETRY, k, d, pol, planned, er, es, ess, late, keep, saw)
#endif
          fi;
          h = 0; late = 0; er = 0; es = 0; ess = 0; keep = 0; saw = 0 }
#ifdef FAULT_ENQUEUE_LATER
        if                                      /* the host may die in between */
        :: o == STARTED -> if :: atomic { d_st[r_did[got]] = ENQUEUED; nq++ } :: break fi
        :: else
        fi;
#endif
     fi;
     h = 0; er = 0; es = 0; ess = 0; n = 0; j = 0; keep = 0; saw = 0;
     if                                         /* a lost answer: the same request goes out again */
     :: atomic { o == STARTED || o == ATTACHED || o == COMPLETED ->
        assert(r_key[got] == k && r_dig[got] == d);
        assert(mine == 0 || mine == got);       /* a key leads to one run, and to nobody else's */
        mine = got; o = 0; got = 0 }
        if :: break :: skip fi
     :: o == CONFLICT -> assert(r_dig[got] != d); break
     :: o == BUSY || o == INTERRUPTING || o == REJECTED || o == REFUSED -> o = 0
     fi
  od
}

#ifdef STORES
proctype Storer(byte k; byte d) {            /* plans, commits, and plans anew where it was wrong */
  byte o, got, h, n, j, er, es, ess, fin, tries = 2; bit carry, seen;
  s_cur[0] != 0;
  do
  :: tries == 0 -> break
  :: tries > 0 ->
     atomic { tries--; er = s_cur[0]; es = r_st[er]; ess = s_st[0];
       fin = (LIVE(er) && LANDED(er) -> t_st : 0) }
     d_step { commit_run_start(k, d, er, es, ess, fin); h = 0; er = 0; es = 0; ess = 0; fin = 0 }
     if                                         /* a lost answer: the same commit once more */
     :: atomic { o == STARTED || o == CONFLICT -> assert(r_key[got] == k); got = 0; o = 0 }
        if :: break :: skip fi
     :: o == BUSY || o == REJECTED -> o = 0
     fi
  od
}

proctype Pauser() {                           /* pauses a run, and lets it run again, or does not */
  byte saw, o, n, j; bit carry, seen;
  atomic { s_cur[0] != 0 && pauses > 0 -> saw = s_cur[0]; pauses-- }
  d_step { update_run_status(saw, SUSP) }
  if :: o == OK :: o != OK -> goto over :: true -> goto over fi;
  d_step { update_run_status(saw, RUNNING) }
over: skip
}

proctype Closer() {                          /* ends a run part by part, and may die between them */
  byte saw, s, o, n, j; bit carry, seen;
  atomic { s_cur[0] != 0 -> saw = s_cur[0]; if :: s = DONE :: s = FAILED fi }
  d_step { commit_terminal(saw, s) }
  if :: o == OK :: o != OK -> goto over :: true -> goto over fi;
  d_step { update_run_status(saw, s) }
  if :: o == OK || o == NOTHING :: o == REFUSED -> goto over :: true -> goto over fi;
  d_step { close_stream(saw) }
over: skip
}
#endif

proctype Stopper() {                          /* sees a run, thinks, stops it, and repeats itself */
  byte saw, n, j; bit again;
#ifdef SC_CHILD
  atomic { if :: s_cur[0] != 0 -> saw = s_cur[0] :: s_cur[1] != 0 -> saw = s_cur[1] fi;
    named[saw] = 1 }
#else
  atomic { s_cur[0] != 0 -> saw = s_cur[0]; named[saw] = 1 }
#endif
again_:
#ifdef FAULT_UNNAMED_STOP                   /* names no run: the current one, whichever it is now */
  atomic { true -> d_step { stop_rule(s_cur[0]) } }
#else
  atomic { true -> d_step { stop_rule(saw) } }
#endif
  if :: again == 0 -> again = 1; goto again_ :: skip fi
}

proctype FailNeverRun(byte ss) {                /* a first entry that failed early, or a sweep */
  byte n, j, got; bit carry, seen;
  s_st[ss] != NOSESSION;
  d_step { fail_session_without_run(ss) }
  d_step { fail_session_without_run(ss) }
}

#ifdef SC_CHILD
proctype ChildStart() {                      /* the child's entry, accepted after its failure too */
  byte n, j, got; bit carry;
  d_step { s_st[1] != NOSESSION -> insert_run(1, 2, 1, FRESH, BY_COMMIT); check() }
}
#endif

proctype Submitter(byte i) {                    /* answers one call, and repeats itself */
  byte o, n, j; bit carry, seen_other, again;
  c_st[i] != C_NONE;
once_more:
#ifdef FAULT_BATCH_BEFORE_LOCK
  seen_other = (c_st[1-i] == C_ANSWERED);
#endif
  atomic { true -> d_step { submit_tool_result(i) } }
  if :: again == 0 -> again = 1; goto once_more :: skip fi
}

proctype Seed(byte k) {                         /* a first accepted start */
  byte o, got, h, n, j; bit carry;
  d_step { entry_rule(FRESH, k, 1, REJECT, 0, 0, 0, 0, 0, 0, 0); o = 0; got = 0 }
}
