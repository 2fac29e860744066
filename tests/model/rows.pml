/* ---- words ----------------------------------------------------------------------------------- */
/* run status */
#define NORUN 0
#define RUNNING 1
#define SUSP 2
#define DONE 3
#define FAILED 4
#define INTR 5
#define SUPER 6
#define LIVE(r) (r_st[r]==RUNNING || r_st[r]==SUSP)
#define TERM(r) (r_st[r]>=DONE)
/* session status; ended, it is its run's DONE, FAILED or INTR */
#define NOSESSION 0
#define ACTIVE 1
#define PAUSED 2
/* DBOS row; SUCCESS and ERROR are for ever, and so is CANCELLED unless somebody resumes it there */
#define NOROW 0
#define ENQUEUED 1
#define PENDING 2
#define SUCCESS 3
#define ERROR 4
#define CANCELLED 5
/* worker process */
#define UP 0
#define FROZEN 1
#define CRASHED 2
/* outcomes */
#define LOST 0
#define STARTED 1
#define ATTACHED 2
#define COMPLETED 3
#define CONFLICT 4
#define BUSY 5
#define INTERRUPTING 6
#define REJECTED 7
#define CLAIMED 8
#define OVER 9
#define OK 10
#define FENCED 11
#define CONTINUED 12
#define NOTHING 13
#define REFUSED 14
/* policies, and the drives that an entry asks for */
#define REJECT 0
#define INTERRUPT 1
#define FRESH 0
#define CONT 1
#define RESUME 2
#define RETRY 3
/* a replaced run ends as its terminal commit says, or superseded */
#define BY_COMMIT 9
/* calls */
#define C_NONE 0
#define C_PENDING 1
#define C_ANSWERED 2
#define C_CONSUMED 3
#define C_ABANDONED 4
/* the parent's children row */
#define CH_NONE 0
#define CH_AWAITED 1
#define CH_ENDED 2
#define CH_DONE 3

/* ---- tables ---------------------------------------------------------------------------------- */
#ifdef SC_CHILD
#define NS 2
#define SESS(r) r_sess[r]
byte r_sess[N1];
byte ch;
#if NCALLS == 0
#define COMPLETE (ch == CH_ENDED)
#else
#define COMPLETE (ch == CH_ENDED && c_st[0] == C_ANSWERED)
#endif
#else
#define NS 1
#define SESS(r) 0
#if NCALLS == 0
#define COMPLETE 0                                   /* nothing but a resume goes on from it */
#else
#define COMPLETE (c_st[0] == C_ANSWERED && c_st[1] == C_ANSWERED)
#endif
#endif
byte s_st[NS], s_cur[NS], nrun;
byte r_st[N1], r_key[N1], r_dig[N1], r_att[N1], r_own[N1], r_did[N1], r_steps[N1], r_drive[N1];
bit  r_stop[N1], r_claimed[N1];                      /* claimed: by this very drive_id */
byte st_run[NS], st_att[NS]; bit st_open[NS];        /* the stream rows */
byte nd, nq;                                         /* drive ids minted; workflows waiting */
byte d_st[D1], d_run[D1], d_ex[D1];                  /* DBOS by drive_id: status, run, executor */
bit  d_late[D1];                                     /* dispatched or claimed over a lease ago */
bit  d_lost[D1];                                     /* over three ago, to a worker that lives */
bit  w_fresh[3], draining; byte w_up[3];             /* heartbeat within the lease; the process */
byte c_st[2], c_run;                                 /* the calls of the one batch, and its run */
bit  set_s[N1], set_t[N1], mark_s[N1], mark_t[N1];   /* settlements, marks: suspension and end */
byte lease_s[N1], lease_t[N1];
#ifdef STORES
byte t_run, t_st;                                    /* the session's terminal commit */
#define LANDED(r) (t_run == r)
#define ENDS_AS(r) (t_run == r -> t_st : SUPER)
#else
#define LANDED(r) 0
#define ENDS_AS(r) SUPER
#endif
#ifdef REWINDS
byte s_msgs;                                         /* messages in history */
byte r_base[N1];                                     /* how many when the run's drive began */
byte r_tail[N1];                                     /* written since its last committed step */
byte r_cps[N1];                                      /* its checkpoints: the steps 1 to this one */
#define COUNT_AT(r, step) (r_base[r] + 2*(step))     /* a step is a reply and its results */
#endif

/* ---- ghosts: what an observer knows; no rule reads them -------------------------------------- */
byte taker[N1];              /* the drive_id that was granted the run and not yet fenced */
byte appended[4];            /* times the input of key k was appended */
byte runs_of_key[4];
byte conts;                  /* runs that went on from the suspended one */
bit  continued[N1];          /* ended by the run that went on from it */
bit  named[N1];              /* somebody meant to stop this run */
bit  stopped_running[N1];    /* a stop was recorded while it was running */
bit  born_stopped[N1];       /* the run that it goes on from had a stop */
bit  hooked_s[N1], hooked_t[N1];
bit  cancelled[N1];          /* its current workflow was cancelled from outside */
#ifdef REWINDS
bit  in_history[N1];         /* its input stands in history, as message r_base */
#endif
byte freezes = FREEZES, crashes = CRASHES, raises = RAISES, losses = LOSSES;
byte drains = DRAINS, cancels = CANCELS, fails = FAILS, pauses = PAUSES;
