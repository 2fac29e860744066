/* ---- what must be so after every commit ------------------------------------------------------ */
inline check() {
  n = 0; j = 1;
  do
  :: j <= NR ->
     if                                                     /* one live run a session */
     :: LIVE(j) -> assert(!(n & (1 << SESS(j)))); n = n | (1 << SESS(j))
     :: else
     fi;
     assert(!TERM(j) || set_t[j] || continued[j]);          /* every end has its settlement */
     assert(!(r_st[j]==SUSP) || set_s[j]);                  /* and every suspension */
     assert(!(set_t[j] && continued[j]));                   /* a continued run settles once */
     assert(!(r_st[j]==INTR) || named[j]);                  /* a stop ends only the run it names */
     assert(!(r_st[j]==SUSP && stopped_running[j]));        /* a taken stop is not slept over */
     assert(!(r_st[j]==RUNNING && !LANDED(j))               /* a running run can write its stream */
       || (st_run[SESS(j)]==j && st_open[SESS(j)] && st_att[SESS(j)]==r_att[j]));
     j++
  :: else -> break
  od;
#ifdef SC_CHILD
  assert(!(c_run != 0 && r_st[c_run]==SUSP && ch==CH_AWAITED
    && s_cur[1] != 0 && TERM(s_cur[1])));                   /* a parent knows of its child's end */
#endif
  assert(!(c_run != 0 && r_st[c_run]==SUSP && !LANDED(c_run)
    && COMPLETE));                                          /* a complete batch is gone on from */
  n = 0; j = 0
}

inline set_status(r, s) {
  assert(!TERM(r));                                         /* a terminal status never changes */
  assert(!LANDED(r) || s == ENDS_AS(r));                    /* nor does a terminal commit */
  assert(!(s == DONE && born_stopped[r]));                  /* a carried stop is honoured */
  r_st[r] = s;
  if
  :: s == SUSP -> assert(!set_s[r]); set_s[r] = 1
  :: s >= DONE && !continued[r] -> assert(!set_t[r]); set_t[r] = 1
  :: else
  fi
}
