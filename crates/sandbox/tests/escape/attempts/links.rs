//! Attempts with links, and with names that change between check and use.

use super::{Attempt, py, sh};

pub(super) const LIST: &[Attempt] = &[
    sh("write by a link", "ln -s $O/file.txt l; echo x > l"),
    sh(
        "write by a link that leads nowhere",
        "ln -s $O/fresh.txt l; echo x > l",
    ),
    sh(
        "write by a chain",
        "ln -s $O a1; ln -s a1 a2; ln -s a2 a3; echo x > a3/file.txt",
    ),
    sh(
        "write by a linked folder",
        "ln -s $O d; echo x > d/file.txt",
    ),
    sh(
        "write by a relative link",
        "ln -s ../outside d; echo x > d/new.txt",
    ),
    sh(
        "write by a link to the top",
        "ln -s / r; echo x > r/$O/file.txt",
    ),
    sh("write by a second name", "ln $O/file.txt h && echo x >> h"),
    sh("second name in the other direction", "ln a.txt $O/h"),
    sh("copy by a link", "ln -s $O/file.txt l; cp a.txt l"),
    sh("copy into a linked folder", "ln -s $O d; cp -r src d/"),
    sh("remove by a linked folder", "ln -s $O d; rm -rf d/*"),
    sh(
        "rename by a linked folder",
        "ln -s $O d; mv d/file.txt d/else.txt",
    ),
    sh(
        "unpack by a link",
        "mkdir t; cd t; ln -s $O d; tar cf ../t.tar d; rm d; mkdir d; echo x > d/file.txt; tar rf ../t.tar d/file.txt; cd ..; mkdir u; cd u; tar -P --keep-directory-symlink -xf ../t.tar; tar -P --keep-directory-symlink -xf ../t.tar; ln -sfn $O d; echo x > d/unpacked",
    ),
    sh(
        "copy a folder over a linked one",
        "mkdir s; echo x > s/new; ln -s $O d; cp -r s/. d/",
    ),
    sh("read by a link", "ln -s $HOME/.ssh/id_ed25519 l; cat l"),
    sh(
        "read by a linked folder",
        "ln -s $HOME d; cat d/.ssh/id_ed25519",
    ),
    sh(
        "read by a link of a process",
        "ln -s /proc/self/root d; cat d$HOME/.aws/credentials",
    ),
    sh(
        "protected by a link",
        "ln -s .git g; printf '[core]\\n fsmonitor = %s\\n' $X >> g/config",
    ),
    sh(
        "protected by a link to itself",
        "ln -s . here; printf '[core]\\n fsmonitor = %s\\n' $X >> here/here/.git/config",
    ),
    sh(
        "protected by a linked workspace",
        "ln -s $W w; mkdir -p w/.vscode; echo x > w/.vscode/tasks.json",
    ),
    sh(
        "protected by a detour",
        "printf '[core]\\n fsmonitor = %s\\n' $X >> src/../.git/config",
    ),
    sh(
        "protected by a long detour",
        "p=.; i=0; while [ $i -lt 500 ]; do p=$p/src/..; i=$((i+1)); done; printf '[core]\\n fsmonitor = %s\\n' $X >> $p/.git/config",
    ),
    py(
        "descriptor of a folder reopened",
        "import os\nd=os.open(os.environ['O'],os.O_PATH)\nf=os.open('/proc/self/fd/%d/file.txt'%d,os.O_WRONLY)\nos.write(f,b'x')",
    ),
    py(
        "folder of a descriptor",
        "import os\nd=os.open(os.environ['O'],os.O_RDONLY)\nos.fchdir(d)\nopen('file.txt','w').write('x')",
    ),
    py(
        "a name for a descriptor",
        "import ctypes,os\nf=os.open(os.environ['O']+'/file.txt',os.O_PATH)\nl=ctypes.CDLL(None)\nl.linkat(f,b'',-100,b'h',0x1000)\nl.linkat(-100,b'/proc/self/fd/%d'%f,-100,b'h',0x400)\nopen('h','a').write('x')",
    ),
    py(
        "names that swap",
        "import os,threading,time\nO=os.environ['O']\nos.mkdir('real');os.symlink(O,'evil')\nend=time.time()+.15\nif os.fork()==0:\n  while time.time()<end:\n    try:\n      os.symlink(O,'s');time.sleep(0);os.unlink('s');os.mkdir('s')\n      import shutil;shutil.rmtree('s')\n    except OSError: pass\n  os._exit(0)\nwhile time.time()<end:\n  try: open('s/swapped','w').write('x')\n  except OSError: pass\nos.wait()",
    ),
    py(
        "protected names that swap",
        "import os,threading,time\nend=time.time()+.15\ndef swap():\n  while time.time()<end:\n    for a,b in (('.git/config','c'),('c','.git/config'),('.git','g'),('g','.git')):\n      try: os.rename(a,b)\n      except OSError: pass\nt=threading.Thread(target=swap);t.start()\nwhile time.time()<end:\n  for p in ('.git/config','g/config','c'):\n    try: open(p,'a').write('#x')\n    except OSError: pass\nt.join()\ntry: os.rename('g','.git')\nexcept OSError: pass",
    ),
    py(
        "whiteout",
        "import ctypes,os\nl=ctypes.CDLL(None)\nO=os.environ['O'].encode()\nl.renameat2(-100,O+b'/file.txt',-100,O+b'/gone.txt',0)",
    ),
    py(
        "folder moved away while in it",
        "import os\nos.mkdir('d');os.chdir('d')\nos.rename(os.environ['W']+'/d',os.environ['O']+'/d')",
    ),
    py(
        "folder moved out from under",
        "import os\nos.makedirs('d/e');os.chdir('d/e')\ntry: os.rename(os.environ['W']+'/d/e',os.environ['W']+'/e')\nexcept OSError: pass\nopen('../../outside/new.txt','w').write('x')",
    ),
];
