//! Attempts to leave something behind or to exceed limits. Programs that stay carry the scene's
//! name in their arguments.

use super::{Attempt, py, sh};

pub(super) const LIST: &[Attempt] = &[
    sh("stay in the background", "sh -c \"sleep 46; : $T\" >/dev/null 2>&1 & sleep .2"),
    sh("stay without a terminal", "nohup sh -c \"sleep 46; : $T\" >/dev/null 2>&1 & sleep .2"),
    sh("stay in a session of its own", "setsid sh -c \"sleep 46; : $T\" >/dev/null 2>&1 & sleep .2").with("setsid"),
    sh("stay in a session of a session", "setsid setsid setsid sh -c \"sleep 46; : $T\" >/dev/null 2>&1 & sleep .2").with("setsid"),
    py("stay by forking twice", "import os,time\nif os.fork()==0:\n  os.setsid()\n  if os.fork()==0:\n    os.chdir('/')\n    os.execv('/bin/sh',['sh','-c','sleep 46; : '+os.environ['T']])\n  os._exit(0)\ntime.sleep(.3)"),
    py("stay against all signals", "import os,signal,time\nif os.fork()==0:\n  os.setsid()\n  for s in range(1,64):\n    try: signal.signal(s,signal.SIG_IGN)\n    except Exception: pass\n  os.execv('/bin/sh',['sh','-c','sleep 46; : '+os.environ['T']])\ntime.sleep(.3)"),
    py("stay stopped", "import os,signal,time\np=os.fork()\nif p==0:\n  os.setsid()\n  os.execv('/bin/sh',['sh','-c','sleep 46; : '+os.environ['T']])\ntime.sleep(.3);os.kill(p,signal.SIGSTOP)"),
    sh("stay in a crowd", "i=0; while [ $i -lt 50 ]; do sh -c \"sleep 46; : $T\" & i=$((i+1)); done; sleep .2"),
    sh("stay while the first is killed", "setsid sh -c \"sleep 46; : $T\" & sleep .2; kill -9 $$").with("setsid"),
    sh("stay in tmux", "tmux -L $T new-session -d \"sleep 46; : $T\"; sleep .4").with("tmux").no_control("its server may not be up in time"),
    py("stay in memory", "import ctypes,os\nl=ctypes.CDLL(None)\nl.shmget.restype=ctypes.c_int\nk=0x4711000+int(os.environ['T'].split('-')[-1])\nl.shmget(k,4096,0o1600)"),
    py("stay in a queue", "import ctypes,os\nl=ctypes.CDLL(None)\nk=0x4712000+int(os.environ['T'].split('-')[-1])\nl.msgget(k,0o1600)"),
    py("stay as a semaphore", "import ctypes,os\nl=ctypes.CDLL(None)\nk=0x4713000+int(os.environ['T'].split('-')[-1])\nl.semget(k,1,0o1600)"),
    sh("a large file", "head -c 80000000 /dev/zero > big; [ $(stat -c %s big) -ge 80000000 ] && echo ESCAPED"),
    sh("a large private folder", "head -c 60000000 /dev/zero > /tmp/$T; [ $(stat -c %s /tmp/$T) -ge 60000000 ] && echo ESCAPED; rm -f /tmp/$T"),
    py("many files", "import os\nn=0\ntry:\n  while n<1500: os.open('/dev/null',0);n+=1\nexcept OSError: pass\nprint('ESCAPED' if n>=1500 else n)").no_control("the machine may give fewer"),
    py("many processes", "import os,time\nn=0\np=[]\ntry:\n  while n<700:\n    c=os.fork()\n    if c==0: time.sleep(9);os._exit(0)\n    p.append(c);n+=1\nexcept OSError: pass\nfor c in p: os.kill(c,9)\nprint('ESCAPED' if n>=700 else n)"),
];
