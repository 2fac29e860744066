"""What is checked of the model: each case with what must come of it."""

from dataclasses import dataclass

DRIVE = "-DSC_DRIVE -DNSTEP=1"
ENTRY = "-DSC_ENTRY -DONE_WORKER"
BATCH = "-DSC_BATCH"
CHILD = "-DSC_CHILD -DNCALLS=0"
SETTLE = "-DSC_SETTLE -DCRASHES=1"
RESUME = "-DSC_RESUME -DONE_WORKER -DTRIES1=2"
PAUSED = f"{RESUME} -DNCALLS=0"
RETRY = "-DSC_RETRY -DONE_WORKER -DNSTEP=1 -DFAILS=2"
REWIND = "-DSC_RETRY -DONE_WORKER -DNSTEP=2 -DFAILS=3 -DPLANNED1=1"
STORE = "-DSC_STORE -DONE_WORKER -DWITH_CLOSER"
PAUSES = "-DSC_STORE -DONE_WORKER -DPAUSES=1"
STOPS_PAUSED = "-DWITH_STOPPER -DSTOPS_SUSPENDED"
SAME_KEY = "-DCLIENT2=1,1"
SENDS_TOO = "-DWITH_CLIENT -DCLIENT_KEY="


@dataclass(frozen=True)
class Case:
    """One run of the checker. A claim is `safe`, for the assertions, or a property's name."""

    name: str
    claim: str
    flags: str
    holds: bool = True
    is_long: bool = False


def holds(name: str, claim: str, *flags: str) -> Case:
    """Return a case without an error in the whole state space."""
    return Case(name, claim, " ".join(flags))


def large(name: str, claim: str, *flags: str) -> Case:
    """Return a case that holds, too large for every day."""
    return Case(name, claim, " ".join(flags), is_long=True)


def planted(name: str, claim: str, *flags: str) -> Case:
    """Return a case whose mistake the checker must find, or the model proves nothing."""
    return Case(f"planted-{name}", claim, " ".join(flags), holds=False)


HOLDING = (
    holds("drive", "safe", DRIVE, "-DFREEZES=1 -DCRASHES=1 -DRAISES=1"),
    holds("drive-two-freezes", "safe", DRIVE, "-DFREEZES=2 -DCRASHES=1"),
    holds("drive-lost-answers", "safe", DRIVE, "-DFREEZES=1 -DCRASHES=1 -DLOSSES=1"),
    holds("drive-lost-dispatch", "safe", DRIVE, "-DFREEZES=1 -DLOSSES=1 -DLOSES_DISPATCH"),
    holds("drive-stopped", "safe", DRIVE, "-DFREEZES=1 -DCRASHES=1 -DWITH_STOPPER"),
    holds("drive-cancelled", "safe", DRIVE, "-DFREEZES=1 -DRAISES=1 -DCANCELS=1"),
    holds("drive-drained", "safe", DRIVE, "-DRAISES=1 -DDRAINS=1"),
    holds("drive-drained-after-a-freeze", "safe", DRIVE, "-DFREEZES=1 -DDRAINS=1"),
    large("drive-drained-all", "safe", DRIVE, "-DFREEZES=1 -DRAISES=1 -DDRAINS=1"),
    large("drive-raises-lost", "safe", DRIVE, "-DFREEZES=1 -DRAISES=1 -DLOSSES=1"),
    holds("drive-ends", "ends", DRIVE, "-DFREEZES=1 -DCRASHES=1"),
    large("drive-ends-raised", "ends", DRIVE, "-DFREEZES=1 -DRAISES=1"),
    holds("drive-ends-lost", "ends", DRIVE, "-DCRASHES=1 -DLOSSES=1 -DLOSES_DISPATCH"),
    holds("drive-ends-drained", "ends", DRIVE, "-DDRAINS=1 -DRAISES=1"),
    holds("drive-ends-cancelled", "ends", DRIVE, "-DCRASHES=1 -DCANCELS=1"),
    holds("entry-two-keys", "safe", ENTRY, "-DFREEZES=1"),
    holds("entry-two-keys-stopped", "safe", ENTRY, "-DWITH_STOPPER"),
    large("entry-two-keys-all", "safe", ENTRY, "-DFREEZES=1 -DWITH_STOPPER"),
    holds("entry-same-twice", "safe", ENTRY, "-DFREEZES=1 -DWITH_STOPPER", SAME_KEY),
    holds("entry-same-key-other-input", "safe", ENTRY, "-DFREEZES=1 -DCLIENT2=1,2"),
    holds("entry-both-reject", "safe", ENTRY, "-DFREEZES=1 -DPOLICY2=REJECT"),
    holds("entry-two-workers", "safe", "-DSC_ENTRY -DCRASHES=1"),
    large("entry-ends", "ends", ENTRY, "-DFREEZES=1"),
    holds("entry-ends-stopped", "ends", ENTRY, "-DWITH_STOPPER"),
    holds("batch-new-message", "safe", BATCH, "-DCRASHES=1", f"{SENDS_TOO}1"),
    holds("batch-stopped", "safe", BATCH, "-DCRASHES=1 -DWITH_STOPPER"),
    large("batch-all", "safe", BATCH, "-DCRASHES=1 -DWITH_STOPPER", f"{SENDS_TOO}1"),
    holds("batch-lost-answers", "safe", BATCH, "-DLOSSES=1 -DWITH_STOPPER"),
    holds("batch-frozen", "safe", BATCH, "-DFREEZES=1"),
    holds("batch-ends", "ends", BATCH, "-DCRASHES=1 -DWITH_STOPPER"),
    holds("batch-handler-requeues", "safe", BATCH, "-DLOSSES=1 -DCRASHES=1 -DHANDLER_REQUEUES"),
    holds(
        "batch-handler-meets-status",
        "safe",
        BATCH,
        "-DLOSSES=1 -DFAULT_HANDLER -DFAULT_END_KEEPS_ATTEMPT",
    ),
    holds(
        "batch-handler-meets-attempt",
        "safe",
        BATCH,
        "-DLOSSES=1 -DFAULT_HANDLER -DFAULT_FINISH_ANY_LIVE",
    ),
    holds("child", "safe", CHILD, "-DCRASHES=1 -DWITH_STOPPER"),
    holds("child-and-call", "safe", "-DSC_CHILD -DNCALLS=1 -DCRASHES=1"),
    large("child-and-call-frozen", "safe", "-DSC_CHILD -DNCALLS=1 -DFREEZES=1"),
    holds("child-new-message", "safe", CHILD, f"{SENDS_TOO}1"),
    holds("child-lost-answers", "safe", CHILD, "-DLOSSES=1"),
    holds("child-exhausted", "safe", CHILD, "-DCRASHES=1 -DEXHAUST=1"),
    holds("child-ends", "ends", CHILD, "-DCRASHES=1"),
    holds("settle", "safe", SETTLE),
    holds("settle-marks", "marks", SETTLE),
    holds("resume-of-a-batch", "safe", RESUME),
    holds("resume-of-a-batch-stopped", "safe", RESUME, "-DWITH_STOPPER"),
    holds("resume-of-a-pause", "safe", PAUSED, "-DFREEZES=1"),
    holds("resume-of-a-stopped-pause", "safe", PAUSED, STOPS_PAUSED),
    large("resume-of-a-stopped-pause-frozen", "safe", PAUSED, STOPS_PAUSED, "-DFREEZES=1"),
    holds("resume-same-twice", "safe", PAUSED, "-DFREEZES=1", SAME_KEY),
    holds("resume-against-a-message", "safe", PAUSED, f"{SENDS_TOO}0"),
    holds("resume-ends", "ends", PAUSED, STOPS_PAUSED),
    holds("retry", "safe", RETRY, "-DFREEZES=1"),
    holds("retry-same-twice", "safe", RETRY, "-DFREEZES=1", SAME_KEY),
    holds("retry-against-a-message", "safe", RETRY, f"{SENDS_TOO}0"),
    holds("retry-from-two-checkpoints", "safe", REWIND),
    holds("retry-ends", "ends", RETRY, "-DRAISES=1"),
    holds("store", "safe", STORE, "-DFREEZES=1"),
    holds("store-against-its-own-key", "safe", STORE, f"{SENDS_TOO}1"),
    holds("store-against-a-message", "safe", STORE, f"{SENDS_TOO}2"),
    holds("store-ends-a-pause", "safe", STORE, "-DSUSPENDS -DNCALLS=1"),
    holds("store-ends-a-batch", "safe", STORE, "-DSUSPENDS"),
    holds("store-pauses-and-wakes", "safe", PAUSES),
    holds("store-pauses-and-wakes-ends", "ends", PAUSES),
    holds("store-ends", "ends", STORE, "-DRAISES=1"),
    holds("store-lands", "lands", STORE, "-DRAISES=1"),
)

PLANTED = (
    planted("dispatched-is-no-finding", "ends", DRIVE, "-DCRASHES=1 -DFAULT_DISPATCHED"),
    planted("dispatched-and-drained", "ends", DRIVE, "-DDRAINS=1 -DFAULT_DISPATCHED"),
    planted("dispatch-has-no-age", "safe", DRIVE, "-DFREEZES=1 -DFAULT_DISPATCH_NO_AGE"),
    planted(
        "dispatch-has-no-age-x6", "safe", DRIVE, "-DFREEZES=1 -DFAULT_DISPATCH_NO_AGE -DPER_FAULT=6"
    ),
    planted("claim-is-no-beat", "safe", DRIVE, "-DFREEZES=1 -DFAULT_CLAIM_NO_BEAT"),
    planted(
        "claim-is-no-beat-x6", "safe", DRIVE, "-DFREEZES=1 -DFAULT_CLAIM_NO_BEAT -DPER_FAULT=6"
    ),
    planted("cancelled-is-driven-again", "safe", DRIVE, "-DCANCELS=1 -DFAULT_CANCELLED"),
    planted(
        "stopped-is-driven-again",
        "safe",
        DRIVE,
        "-DRAISES=1 -DWITH_STOPPER -DFAULT_REQUEUE_STOPPED",
    ),
    planted("requeue-judges-once", "safe", DRIVE, "-DRAISES=1 -DFAULT_REQUEUE_BLIND"),
    planted("requeue-keeps-attempt", "safe", DRIVE, "-DFREEZES=1 -DFAULT_REQUEUE_NO_BUMP"),
    planted("requeue-keeps-drive-id", "ends", DRIVE, "-DCRASHES=1 -DFAULT_SAME_DRIVE_ID"),
    planted("claim-of-any-drive", "safe", DRIVE, "-DFREEZES=1 -DCRASHES=1 -DFAULT_CLAIM_ANY_DRIVE"),
    planted("claim-of-any-status", "safe", BATCH, "-DFREEZES=1 -DFAULT_CLAIM_ANY_STATUS"),
    planted("finish-of-any-attempt", "safe", DRIVE, "-DFREEZES=1 -DFAULT_FINISH_NO_ATTEMPT"),
    planted("stream-fenced-by-run", "safe", DRIVE, "-DFREEZES=1 -DFAULT_STREAM_FENCE"),
    planted("sweep-by-age", "safe", DRIVE, "-DRAISES=1 -DFAULT_SWEEP_AGE"),
    planted(
        "handler-undoes-a-commit",
        "safe",
        BATCH,
        "-DLOSSES=1 -DFAULT_HANDLER -DFAULT_END_KEEPS_ATTEMPT -DFAULT_FINISH_ANY_LIVE",
    ),
    planted("stop-is-slept-over", "safe", BATCH, "-DWITH_STOPPER -DFAULT_STOP_SUSPEND"),
    planted("batch-before-the-lock", "safe", BATCH, "-DFAULT_BATCH_BEFORE_LOCK"),
    planted("suspend-does-not-look", "safe", CHILD, "-DFAULT_SUSPEND_NO_LOOK"),
    planted("parent-before-the-lock", "safe", CHILD, "-DCRASHES=1 -DFAULT_PARENT_BEFORE_LOCK"),
    planted(
        "exhausted-child-wakes-nobody",
        "safe",
        CHILD,
        "-DCRASHES=1 -DEXHAUST=1 -DFAULT_EXHAUST_NO_WAKE",
    ),
    planted("interrupting-above-rejected", "safe", ENTRY, "-DFREEZES=1 -DFAULT_ORDER"),
    planted("stop-names-no-run", "safe", ENTRY, "-DWITH_STOPPER -DFAULT_UNNAMED_STOP"),
    planted("key-before-the-lock", "safe", ENTRY, "-DFAULT_KEY_BEFORE_LOCK", SAME_KEY),
    planted("never-run-if-none-lives", "safe", ENTRY, "-DFAULT_NEVERRUN_LIVE"),
    planted("enqueue-after-the-commit", "ends", ENTRY, "-DFAULT_ENQUEUE_LATER"),
    planted("mark-before-the-hook", "marks", SETTLE, "-DFAULT_MARK_FIRST"),
    planted("resume-settles-twice", "safe", PAUSED, "-DFAULT_RESUME_SETTLES"),
    planted("resume-drops-the-stop", "safe", PAUSED, STOPS_PAUSED, "-DFAULT_RESUME_DROPS_STOP"),
    planted("resume-of-a-partial-batch", "safe", RESUME, "-DFAULT_RESUME_PARTIAL"),
    planted("retry-interrupts", "safe", RETRY, "-DFAULT_RETRY_INTERRUPTS"),
    planted("rewind-by-a-stale-plan", "safe", RETRY, f"{SENDS_TOO}0 -DFAULT_STALE_REWIND"),
    planted("rewind-keeps-checkpoints", "safe", REWIND, "-DFAULT_REWIND_KEEPS_CHECKPOINTS"),
    planted("finish-pins-running", "safe", STORE, "-DSUSPENDS -DFAULT_FINISH_PINS_RUNNING"),
    planted("owner-before-finish", "safe", STORE, "-DFAULT_OWNER_FIRST"),
    planted("store-ignores-the-key", "safe", STORE, "-DFAULT_STORE_IGNORES_KEY"),
    planted("store-ignores-the-session", "safe", STORE, "-DFAULT_STORE_IGNORES_SESSION"),
    planted("terminal-run-is-rewritten", "safe", STORE, "-DFAULT_REWRITES_TERMINAL"),
    planted("terminal-commit-fences-nobody", "safe", STORE, "-DFAULT_TERMINAL_NO_FENCE"),
    planted("landed-run-is-claimed", "safe", STORE, "-DFAULT_CLAIM_LANDED"),
    planted("landed-run-is-requeued", "safe", STORE, "-DFAULT_REQUEUE_LANDED"),
    planted("stream-closed-unfenced", "safe", STORE, "-DFAULT_CLOSE_ANY_RUN"),
)

CASES = HOLDING + PLANTED
