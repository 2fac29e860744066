/* ---- what a drive calls, the answers to its calls, and the takeover -------------------------- */
inline end_run(r, s, wake) {                    /* the one way a running run ends */
  set_status(r, s); end_attempt(r); pair_calls(r);
  if :: s_cur[SESS(r)] == r -> s_st[SESS(r)] = s; st_open[SESS(r)] = 0 :: else fi;
#ifdef STORES
  t_run = r; t_st = s;
#endif
  if :: SESS(r) == 1 && wake -> child_ended(seen) :: else fi
}

inline claim_run(r, d, w) {                     /* claimed: exactly once per drive_id */
  if
#ifdef FAULT_CLAIM_ANY_STATUS
  :: LIVE(r) && r_own[r] == 0 ->
     if :: r_st[r] == SUSP -> r_st[r] = RUNNING :: else fi;
#elif defined(FAULT_CLAIM_ANY_DRIVE)
  :: r_st[r] == RUNNING && r_own[r] == 0 ->
#elif defined(FAULT_CLAIM_LANDED)
  :: r_st[r] == RUNNING && r_did[r] == d && !r_claimed[r] ->
#else
  :: r_st[r] == RUNNING && r_did[r] == d && !r_claimed[r] && !LANDED(r) ->
#endif
     r_own[r] = w; r_claimed[r] = 1; taker[r] = d; d_late[d] = 0;
     att = r_att[r]; o = CLAIMED
  :: else -> o = OVER
  fi
}

#define HOLDS(r, a) (r_st[r] == RUNNING && r_att[r] == a)

inline append_chunks(r, a) {                    /* locks the stream row only */
  if
#ifdef FAULT_STREAM_FENCE                       /* fenced on the run, not on the attempt */
  :: st_run[SESS(r)] == r && st_open[SESS(r)] ->
#else
  :: st_run[SESS(r)] == r && st_att[SESS(r)] == a && st_open[SESS(r)] ->
#endif
     assert(taker[r] == d);
     assert(!born_stopped[r]);                  /* a carried stop comes before any model call */
     o = OK
  :: else -> o = FENCED
  fi
}

inline commit_reply(r, a) {                     /* what the model said, before any tool body runs */
#ifdef REWINDS
  if
  :: HOLDS(r, a) ->
     assert(taker[r] == d); o = OK;
     if :: r_tail[r] == 0 -> s_msgs++; r_tail[r] = 1 :: else fi /* it may be saved already */
  :: else -> o = FENCED
  fi
#else
  skip
#endif
}

inline commit_step(r, a, i) {
  if
  :: HOLDS(r, a) ->
     assert(taker[r] == d); if :: r_steps[r] < i -> r_steps[r] = i :: else fi; o = OK;
#ifdef REWINDS
     s_msgs++; r_tail[r] = 0; r_cps[r] = i;
     assert(s_msgs == COUNT_AT(r, i))          /* nothing else wrote into a running run's history */
#endif
  :: else -> o = FENCED
  fi
}

inline spawn(r, a) {                        /* the child's session; its run is an entry's to make */
#ifdef SC_CHILD
  if
  :: HOLDS(r, a) -> assert(taker[r] == d); o = OK;
     if :: ch == CH_NONE -> ch = CH_AWAITED; c_run = r; s_st[1] = ACTIVE :: else fi
  :: else -> o = FENCED
  fi;
  check()
#else
  skip
#endif
}

inline finish_run(r, a, s) {
  if
#ifdef FAULT_FINISH_NO_ATTEMPT
  :: r_st[r] == RUNNING ->
#elif defined(FAULT_FINISH_ANY_LIVE)
  :: LIVE(r) && r_att[r] == a ->
#else
  :: HOLDS(r, a) ->
#endif
     assert(taker[r] == d);                     /* neither after a takeover nor after its own end */
     end_run(r, s, 1); o = OK
  :: else -> o = FENCED
  fi;
  check()
}

inline suspend_run(r, a) {
  if
  :: HOLDS(r, a) ->
     assert(taker[r] == d);
     if
#ifndef FAULT_STOP_SUSPEND
     :: r_stop[r] -> end_run(r, INTR, 1); o = OK            /* looks again: a stop ends the run */
     :: !r_stop[r] ->
#else
     :: true ->
#endif
        set_status(r, SUSP); end_attempt(r); s_st[SESS(r)] = PAUSED; st_open[SESS(r)] = 0;
        c_run = r; o = OK;
        if :: NCALLS > 0 -> c_st[0] = C_PENDING :: else fi;
        if :: NCALLS > 1 -> c_st[1] = C_PENDING :: else fi;
#ifndef FAULT_SUSPEND_NO_LOOK
        if :: COMPLETE -> insert_run(SESS(r), 0, 0, CONT, BY_COMMIT); o = CONTINUED :: else fi
#endif
     fi
  :: else -> o = FENCED
  fi;
  check()
}

inline submit_tool_result(i) {
  if
  :: c_st[i] == C_PENDING && !LANDED(c_run) ->
     assert(s_cur[0] == c_run && r_st[c_run] == SUSP);
     c_st[i] = C_ANSWERED;
#ifdef FAULT_BATCH_BEFORE_LOCK
     if :: seen_other -> insert_run(0, 0, 0, CONT, BY_COMMIT) :: else fi;
#else
     if :: COMPLETE -> insert_run(0, 0, 0, CONT, BY_COMMIT) :: else fi;
#endif
     o = OK
  :: else -> o = NOTHING
  fi;
  check()
}

/* takeover: why nothing executes a running run */
#define WORKFLOW_ENDED(r) (d_st[r_did[r]] == SUCCESS || d_st[r_did[r]] == ERROR \
  || d_st[r_did[r]] == CANCELLED)
#ifdef FAULT_CLAIM_NO_BEAT
#define OWNER_DEAD(r) (!w_fresh[r_own[r]])
#elif defined(FAULT_SWEEP_AGE)
#define OWNER_DEAD(r) 1
#else                                           /* its heartbeat and its claim are both that old */
#define OWNER_DEAD(r) (!w_fresh[r_own[r]] && d_late[r_did[r]])
#endif
#ifdef FAULT_DISPATCHED
#define NEVER_CLAIMED(r) 0
#elif defined(FAULT_DISPATCH_NO_AGE)
#define NEVER_CLAIMED(r) (d_st[r_did[r]] == PENDING && !w_fresh[d_ex[r_did[r]]])
#else
#define NEVER_CLAIMED(r) (d_st[r_did[r]] == PENDING \
  && (d_lost[r_did[r]] || (d_late[r_did[r]] && !w_fresh[d_ex[r_did[r]]])))
#endif
#define STRANDED(r) (r_st[r] == RUNNING \
  && (WORKFLOW_ENDED(r) || (r_own[r] != 0 -> OWNER_DEAD(r) : NEVER_CLAIMED(r))))

inline begin_attempt(r) {
  assert(!cancelled[r] && !stopped_running[r]); /* neither is driven again */
  r_own[r] = 0; r_claimed[r] = 0; taker[r] = 0;
#ifndef FAULT_REQUEUE_NO_BUMP
  r_att[r]++;
  assert(r_att[r] <= 1 + PER_FAULT*(FAULTS_SO_FAR) + PAUSES - pauses); /* a fault costs one */
  if :: st_run[SESS(r)] == r -> st_att[SESS(r)] = r_att[r] :: else fi;
#endif
#ifdef FAULT_SAME_DRIVE_ID                      /* to a known id DBOS says yes, and does nothing */
  skip
#else
  mint(r)
#endif
}

/* found: what must still be so under the lock; spent: this attempt was the last of the budget */
inline requeue_run(r, f, found, spent) {
  if
#ifdef FAULT_REQUEUE_BLIND
  :: r_st[r] == RUNNING ->
#else
  :: r_st[r] == RUNNING && r_did[r] == f && (found) ->
#endif
     if
#if defined(STORES) && !defined(FAULT_REQUEUE_LANDED)
     :: LANDED(r) -> end_run(r, t_st, 1)        /* a store client died after its terminal commit */
#endif
#ifndef FAULT_CANCELLED
     :: !LANDED(r) && d_st[r_did[r]] == CANCELLED -> end_run(r, FAILED, 1)
#endif
#ifndef FAULT_REQUEUE_STOPPED
     :: !LANDED(r) && d_st[r_did[r]] != CANCELLED && r_stop[r] -> end_run(r, INTR, 1)
     :: !LANDED(r) && d_st[r_did[r]] != CANCELLED && !r_stop[r] && (spent) && r_own[r] != 0 ->
#else
     :: !LANDED(r) && d_st[r_did[r]] != CANCELLED && (spent) && r_own[r] != 0 ->
#endif
#ifdef FAULT_EXHAUST_NO_WAKE
        end_run(r, FAILED, 0)
#else
        end_run(r, FAILED, 1)
#endif
     :: else -> begin_attempt(r)
     fi
  :: else
  fi;
  check()
}
