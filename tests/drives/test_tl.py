import time
from tests.drives.test_takeovers import *
def test_tl(scene):
    t0=time.monotonic()
    def p(*a): print(f"{time.monotonic()-t0:.2f}", *a, flush=True)
    runs = (scene.start("s1", SAYS), scene.start("s2", HOLDS, {"say": "After the body."}))
    drives = [drive_of(scene, run) for run in runs]
    lost = frozen_with(scene, *runs)
    p('frozen')
    taker = scene.crew.worker("B")
    taker.ready(); p('B ready')
    seen(lambda: scene.door.run(runs[0].run_id).attempt==2); p('requeued')
    seen(lambda: scene.door.run(runs[0].run_id).owner_id); p('claimed')
    scene.stage.seen("waits", 2, pid=taker.pid); p('waits')
    scene.stage.open("word")
    scene.stage.open("body")
    assert [scene.settled(run).status for run in runs] == ["completed", "completed"]
    p('settled')
    before = stored(scene)
    lost.thaw()
    returned(scene, drives[0]); p('r0')
    returned(scene, drives[1]); p('r1')
    print(taker.log.read_text())
    print(lost.log.read_text())
