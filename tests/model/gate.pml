/* The gate as a model: one session (CHILD: a parent's and a child's), and what Postgres, DBOS, two
 * workers and any number of callers may do to it.
 *
 * A d_step or an atomic is one commit: one SQL function under the session's row lock, or one
 * statement of DBOS. Everything between two of them is a client's own code, where any other process
 * may run and where a worker may die or freeze. One attempt is one drive_id is one DBOS workflow.
 *
 *   rows.pml        the words and the tables, and what only an observer knows
 *   invariants.pml  what must be so after every commit
 *   entries.pml     the rules of entries and stops
 *   drives.pml      the rules that a drive calls, answers to its calls, and the takeover
 *   store.pml       the rules of store clients
 *   workers.pml     what a worker does between the commits, and what happens to it
 *   callers.pml     who else calls
 *
 * -DSC_x chooses who takes part, -DFAULT_x plants a mistake that must be found: see cases.py.
 */

/* ---- scenarios: who takes part --------------------------------------------------------------- */
#ifdef SC_DRIVE               /* one run, takeover by every road; worker 1 holds up to two drives */
#define NR 1
#define SEEDED
#define TWO_SLOTS
#endif
#ifdef SC_ENTRY                  /* clients, keys, policies, stops, the never-run failure */
#define NR 3
#endif
#ifdef SC_BATCH                  /* suspension, two answers at once, a new message, a stop */
#define NR 3
#define SEEDED
#define SUSPENDS
#endif
#ifdef SC_SETTLE                 /* settlement rows, hook and mark */
#define NR 2
#define SEEDED
#define SUSPENDS
#endif
#ifdef SC_CHILD                  /* run 1 starts a child in another session, and waits for it */
#define SEEDED
#define SUSPENDS
#ifdef WITH_CLIENT
#define NR 4
#else
#define NR 3
#endif
#endif
#ifdef SC_RESUME                 /* two resumes of a run that is suspended, stopped or running */
#define NR 4
#define SEEDED
#define SUSPENDS
#endif
#ifdef SC_RETRY                 /* two retries of a run that fails, one of them from a checkpoint */
#define NR 4
#define SEEDED
#define REWINDS
#endif
#ifdef SC_STORE                  /* a store client's run start against its own ends, and an entry */
#define NR 4
#define SEEDED
#define STORES
#endif

#ifndef NCALLS
#define NCALLS 2                 /* calls that run 1 waits for */
#endif
#ifndef CLIENT2
#define CLIENT2 2, 1             /* its key and its input */
#endif
#ifndef PLANNED1
#define PLANNED1 0               /* whether the first caller plans too */
#endif
#ifndef POLICY2
#define POLICY2 INTERRUPT
#endif
#ifndef NSTEP
#define NSTEP 0
#endif
#ifndef FREEZES
#define FREEZES 0
#endif
#ifndef CRASHES
#define CRASHES 0
#endif
#ifndef RAISES
#define RAISES 0
#endif
#ifndef LOSSES
#define LOSSES 0
#endif
#ifndef DRAINS
#define DRAINS 0
#endif
#ifndef CANCELS
#define CANCELS 0
#endif
#ifndef FAILS
#define FAILS 0
#endif
#ifndef PAUSES
#define PAUSES 0
#endif
#ifndef EXHAUST
#define EXHAUST 0
#endif
#ifndef PER_FAULT                /* attempts that one fault may cost */
#define PER_FAULT 1
#endif
#define FAULTS (FREEZES + CRASHES + RAISES + LOSSES + DRAINS + PAUSES)
#define FAULTS_SO_FAR (FAULTS - freezes - crashes - raises - losses - drains - pauses)
#ifdef SC_CHILD
#define ND (NR + 2*PER_FAULT*FAULTS)
#else
#define ND (NR + PER_FAULT*FAULTS)
#endif
#define D1 (ND+1)
#define N1 (NR+1)

#include "rows.pml"
#include "invariants.pml"
#include "entries.pml"
#include "drives.pml"
#include "store.pml"
#include "workers.pml"
#include "callers.pml"

init {
  atomic {
    w_fresh[1] = 1;
#ifndef ONE_WORKER
    w_fresh[2] = 1;
#endif
#ifdef SC_ENTRY
    s_st[0] = ACTIVE;                                       /* create_session came first */
#endif
    run Drive(1);
    if :: FREEZES > 0 -> run Beat(1); run Expire(1); run Thaw(1) :: else fi;
#ifndef ONE_WORKER
    run Drive(2); run Sweep(2);
    if :: FREEZES == 0 && (CRASHES > 0 || DRAINS > 0) -> run Expire(1) :: else fi;
    if :: FREEZES > 0 -> run Beat(2); run Expire(2); run Thaw(2) :: else fi;
#endif
#ifdef TWO_SLOTS
    run Drive(1);
#endif
    if :: FAULTS + CANCELS > 0 || SWEEPS -> run Sweep(1) :: else fi;
    if :: FREEZES > 0 || CRASHES > 0 -> run Trouble() :: else fi;
    if :: CANCELS > 0 -> run Cancel() :: else fi;
    if :: DRAINS > 0 -> run Drain() :: else fi;
#ifdef SEEDED
    run Seed(3);
#endif
#ifdef SC_ENTRY
    run FailNeverRun(0);
    run Client(FRESH, 1, 1, REJECT, 2, 0);                  /* expects nothing */
    run Client(FRESH, CLIENT2, POLICY2, 2, 1);              /* plans first, and says what it saw */
#endif
#ifdef SC_CHILD
    run ChildStart();
#ifndef NO_NEVERRUN
    run FailNeverRun(1);
#endif
#endif
#ifdef SC_RESUME
    run Client(RESUME, 1, 1, INTERRUPT, TRIES1, 0);
    run Client(RESUME, CLIENT2, POLICY2, 1, 1);
#endif
#ifdef SC_RETRY
    run Client(RETRY, 1, 1, INTERRUPT, 1, PLANNED1);
    run Client(RETRY, CLIENT2, POLICY2, 1, 1);             /* names a checkpoint that it has seen */
#endif
#ifdef SC_STORE
    run Storer(1, 1);
#endif
#if defined(SUSPENDS) && NCALLS > 0
    run Submitter(0);
#endif
#if defined(SUSPENDS) && NCALLS > 1
    run Submitter(1);
#endif
#ifdef WITH_CLOSER
    run Closer();
#endif
#if PAUSES > 0
    run Pauser();
#endif
#ifdef WITH_CLIENT
    run Client(FRESH, CLIENT_KEY, 1, REJECT, 1, 1);
#endif
#ifdef WITH_STOPPER
    run Stopper();
#endif
#ifdef SC_SETTLE
    run Settle(1); run Settle(2);
#endif
  }
}

/* ---- under fairness -------------------------------------------------------------------------- */
#define ENDS(r) [] (r_st[r]==RUNNING -> <> (r_st[r]!=RUNNING))
#if NR == 1
ltl ends { ENDS(1) }
#elif NR == 2
ltl ends { ENDS(1) && ENDS(2) }
#elif NR == 3
ltl ends { ENDS(1) && ENDS(2) && ENDS(3) }
#else
ltl ends { ENDS(1) && ENDS(2) && ENDS(3) && ENDS(4) }
#endif
#ifdef SC_SETTLE
ltl marks { ([] (set_s[1] -> <> (mark_s[1] && hooked_s[1])))
         && ([] (set_t[1] -> <> (mark_t[1] && hooked_t[1])))
         && ([] (set_t[2] -> <> (mark_t[2] && hooked_t[2]))) }
#endif
#ifdef STORES
ltl lands { [] (LANDED(1) -> <> TERM(1)) }
#endif
