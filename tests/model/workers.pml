/* ---- what a worker does between the commits, and what happens to it -------------------------- */
#if NR == 1
#define ANY(P) (P(1))
#define PICK(P) if :: P(1) -> r = 1 fi
#elif NR == 2
#define ANY(P) (P(1) || P(2))
#define PICK(P) if :: P(1) -> r = 1 :: P(2) -> r = 2 fi
#elif NR == 3
#define ANY(P) (P(1) || P(2) || P(3))
#define PICK(P) if :: P(1) -> r = 1 :: P(2) -> r = 2 :: P(3) -> r = 3 fi
#else
#define ANY(P) (P(1) || P(2) || P(3) || P(4))
#define PICK(P) if :: P(1) -> r = 1 :: P(2) -> r = 2 :: P(3) -> r = 3 :: P(4) -> r = 4 fi
#endif
#define IS_UP(w) (w_up[w] == UP)

#ifdef SUSPENDS
#define SUSPENDING (r_drive[r] == FRESH && r == 1)
#else
#define SUSPENDING 0
#endif
#ifdef STORES                                   /* a store client leaves runs for a sweep to end */
#define SWEEPS 1
#else
#define SWEEPS 0
#endif

#define FORGET d = 0; r = 0; att = 0; o = 0; i = 0; what = 0
#define LEAVE(end) atomic { IS_UP(w) -> \
  if :: d_st[d] == PENDING -> d_st[d] = end :: else fi; FORGET }

proctype Drive(byte w) {                        /* one slot: DBOS's queue fills it, oldest first */
  byte r, d, att, o, i, what; byte n, j, got; bit carry, seen;
idle:
end_idle:
  atomic { IS_UP(w) && !(w == 1 && draining) && nq > 0 -> d = 1;
    do :: d_st[d] != ENQUEUED -> d++ :: else -> break od;
    nq--; d_st[d] = PENDING; d_ex[d] = w; d_late[d] = 0; r = d_run[d] }
#ifdef LOSES_DISPATCH                           /* what the queue answered may be lost */
  if :: atomic { losses > 0 -> losses--; d_lost[d] = 1; FORGET } ; goto idle :: true fi;
#endif
claim:
  atomic { IS_UP(w) -> d_step { claim_run(r, d, w) } }
  if
  :: o == OVER -> goto leave
  :: atomic { o == CLAIMED && losses > 0 -> losses--; att = 0; o = 0 } ; goto claim
  :: o == CLAIMED
  fi;
work:
  if                                            /* the stop is read before the model call */
  :: atomic { IS_UP(w) && r_stop[r] -> i = 0; what = INTR } ; goto ending
  :: atomic { IS_UP(w) && !r_stop[r] -> i = r_steps[r] }
  :: atomic { IS_UP(w) && raises > 0 -> raises--; i = 0 } ;
     if                                         /* it hands its run over, or not even that */
     :: do
        :: d_step { IS_UP(w) -> requeue_run(r, d, 1, 0) }
           if :: atomic { losses > 0 -> losses-- } :: goto leave fi
        od
     :: LEAVE(ERROR); goto idle
     fi
  fi;
  if
  :: atomic { fails > 0 -> fails--; what = FAILED } ; goto ending
  :: i >= NSTEP && !(SUSPENDING) -> what = DONE; goto ending
  :: i < NSTEP || SUSPENDING
  fi;
  d_step { IS_UP(w) -> append_chunks(r, att) }  /* tokens of the model call */
  if :: o == FENCED -> goto leave :: else fi;
#ifdef SC_CHILD
  if
  :: SUSPENDING ->
     d_step { IS_UP(w) -> spawn(r, att) }
     if :: o == FENCED -> goto leave :: else fi
  :: else
  fi;
#endif
#ifdef SUSPENDS
  if :: SUSPENDING -> what = SUSP; goto ending :: else fi;
#endif
#ifdef REWINDS
  d_step { IS_UP(w) -> commit_reply(r, att) }
  if :: o == FENCED -> goto leave :: else fi;
  if :: atomic { fails > 0 -> fails--; what = FAILED } ; goto ending :: true fi;
#endif
  d_step { IS_UP(w) -> commit_step(r, att, i+1) }
  if :: o == FENCED -> goto leave :: else -> goto work fi;
ending: skip;                                   /* once more while its outcome is unknown */
  if :: atomic { losses > 0 -> losses--; goto read_back } :: true fi;
#ifdef FAULT_PARENT_BEFORE_LOCK
  atomic { seen = (c_run != 0 && r_st[c_run] == SUSP) }
#endif
  atomic { IS_UP(w) -> d_step {
    if :: what == SUSP -> suspend_run(r, att) :: else -> finish_run(r, att, what) fi; seen = 0 } }
#ifdef HANDLER_REQUEUES
  if :: atomic { losses > 0 -> losses--; o = LOST } :: o = OK fi;
  if :: o == LOST -> d_step { IS_UP(w) -> requeue_run(r, d, 1, 0) } :: else fi; goto leave;
#endif
  if
  :: atomic { losses > 0 -> losses-- } ;        /* the reply was lost */
#ifdef FAULT_HANDLER
read_back: what = FAILED; goto ending           /* an error handler that writes failed */
#else
read_back:
     atomic { IS_UP(w) -> if :: HOLDS(r, att) -> o = LOST :: else -> o = OK fi }
     if :: o == LOST -> goto ending :: else fi
#endif
  :: true
  fi;
leave:                                          /* the workflow returns: SUCCESS for ever */
  LEAVE(SUCCESS);
  goto idle
}

proctype Sweep(byte w) {                        /* finds, and acts on it later in another commit */
  byte r, f, n, j, got; bit carry, seen, last, still;
end:
  do
  :: atomic { IS_UP(w) && w_fresh[w] && ANY(STRANDED) -> PICK(STRANDED); f = r_did[r];
       if :: last = 0 :: EXHAUST -> last = 1 fi }
     d_step { IS_UP(w) -> still = STRANDED(r);
       requeue_run(r, f, still, last); r = 0; f = 0; last = 0; still = 0 }
  od
}

#define HAS_WORKFLOW(r) (r_st[r] == RUNNING \
  && (d_st[r_did[r]] == ENQUEUED || d_st[r_did[r]] == PENDING))
proctype Cancel() {                             /* somebody cancels a live run's workflow in DBOS */
  byte r;
  atomic { cancels > 0 && ANY(HAS_WORKFLOW) -> PICK(HAS_WORKFLOW); cancels--; cancelled[r] = 1;
    if :: d_st[r_did[r]] == ENQUEUED -> nq-- :: else fi; d_st[r_did[r]] = CANCELLED; r = 0 }
}

#define OF_1(r) (r_st[r] == RUNNING && r_own[r] == 1)
proctype Drain() {                              /* worker 1 hands over what it owns, and exits */
  byte r, f, n, j, got; bit carry, seen;
  atomic { drains > 0 && IS_UP(1) -> drains--; draining = 1 }
  do
  :: d_step { IS_UP(1) && ANY(OF_1) -> PICK(OF_1); f = r_did[r];
       requeue_run(r, f, 1, 0); r = 0; f = 0 }
  :: atomic { w_up[1] != CRASHED -> w_up[1] = CRASHED; break }
  :: w_up[1] == CRASHED -> break
  od
}

/* The world: each a process of its own, so that weak fairness speaks of each. Worker 2 never
 * crashes: it stands for all who come later. */
proctype Beat(byte w)   { end: do :: atomic { IS_UP(w) && !w_fresh[w] -> w_fresh[w] = 1 } od }
proctype Thaw(byte w)   { end: do :: atomic { w_up[w] == FROZEN -> w_up[w] = UP } od }
#define ANY_D(w) (L0(w,1) || L0(w,2) || L0(w,3) || L0(w,4) || L0(w,5) || L0(w,6) || L0(w,7) \
  || L0(w,8) || L0(w,9))
#define L0(w, x) (x <= nd && d_ex[(x <= ND -> x : 0)] == w && d_st[(x <= ND -> x : 0)] == PENDING \
  && !d_late[(x <= ND -> x : 0)])
proctype Expire(byte w) {                       /* a lease passes while the worker is not up */
  byte d;
end:
  do
  :: atomic { !IS_UP(w) && (w_fresh[w] || ANY_D(w)) -> w_fresh[w] = 0; d = 1;
       do
       :: d <= ND -> if :: d_ex[d] == w && d_st[d] == PENDING -> d_late[d] = 1 :: else fi; d++
       :: else -> break
       od; d = 0 }
  od
}
proctype Trouble() {
  do
  :: atomic { freezes > 0 && w_up[1] == UP -> freezes--; w_up[1] = FROZEN }
#ifndef ONE_WORKER
  :: atomic { freezes > 0 && w_up[2] == UP -> freezes--; w_up[2] = FROZEN }
#endif
  :: atomic { crashes > 0 && w_up[1] != CRASHED -> crashes--; w_up[1] = CRASHED }
  :: break
  od
}

/* a consumer of settlements: leases one, runs its hook, marks it; who stalls loses the lease */
#define DUE(r, set, mark, lease) (set[r] && !mark[r] && (lease[r] == 0 || !IS_UP(lease[r])))
#define DUE_S(r) DUE(r, set_s, mark_s, lease_s)
#define DUE_T(r) DUE(r, set_t, mark_t, lease_t)
inline deliver(mark, hooked, lease) {
#ifdef FAULT_MARK_FIRST
  d_step { IS_UP(w) -> mark = 1 } d_step { IS_UP(w) -> hooked = 1 }
#else
  d_step { IS_UP(w) -> hooked = 1 } d_step { IS_UP(w) -> mark = 1; lease = 0 }
#endif
}
proctype Settle(byte w) {
  byte r;
end:
  do
  :: atomic { IS_UP(w) && ANY(DUE_S) -> PICK(DUE_S); lease_s[r] = w }
     deliver(mark_s[r], hooked_s[r], lease_s[r]); r = 0
  :: atomic { IS_UP(w) && ANY(DUE_T) -> PICK(DUE_T); lease_t[r] = w }
     deliver(mark_t[r], hooked_t[r], lease_t[r]); r = 0
  od
}
