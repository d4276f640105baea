#!/usr/bin/perl

# A Python program by the extension "run" is the same to its author whether the
# session was ready or not: what python3 does, which a session without a keeper
# starts, is what the interpreter of a ready one has to do.

use strict;
use warnings;
use Test::More;
use Sandbox;

my $cold = Sandbox->new;
my $ready = Sandbox->new(keeper => 1);
my $helper = "word = 'word'\ndef fail():\n    raise ValueError('helper')\n"
    . "f = open('helper.txt', 'w'); f.write(word)\n";

# All that can be seen of $source run in a new session with the files $put.
sub seen {
	my ($s, $source, %more) = @_;
	my $id = $s->session;
	my $put = delete $more{put} // {};
	$s->put($id, $_, $put->{$_}) for sort keys %$put;
	my $r = $s->run($id, 'py', $source, manifest => [], %more);
	my %c = map { $_ => $r->{content}{$_} } qw(stdout stderr return_code);
	$c{calls} = $r->{calls};
	$c{files} = { map { $_ => $s->fetch($id, $_)->{body} }
	    grep { !$put->{$_} && !/__pycache__/ }
	    map { $_->{path} } @{$r->{files}} };
	s/0x[0-9a-f]+/0x/g, s/refcount : \K\d+//g for @c{qw(stdout stderr)};
	return \%c;
}

my $loaded = "import sys\nprint('pandas' in sys.modules)";
is(seen($cold, $loaded)->{stdout}, "False\n", 'without a keeper: python3');
is(seen($ready, $loaded)->{stdout}, "True\n", 'a ready session has more');

# Each: what it is about, its source, and what Python's documentation has to
# say: of what it prints, and of its return code, errors and files.
my @same = (
	['what is printed', "print('\x{e9}', 1)", qr/\A\x{e9} 1\n\z/],
	['the names of __main__', <<'END', qr/__main__ main\.py/],
import os, sys
print(__name__, os.path.basename(__file__), sorted(globals()))
print(__doc__, __spec__, __package__, __cached__, __annotations__)
print(type(__loader__), __loader__.name, __loader__.path, __builtins__)
print(sys.modules['__main__'].__dict__ is globals())
END
	['the interpreter', <<'END'],
import os, sys, threading
print(sys.argv, sys.orig_argv, sys.executable, sys.path, sys.prefix)
print(sys.dont_write_bytecode, os.getcwd(), sorted(os.environ.items()))
print(sys.path_hooks, sys.flags.optimize, sys.flags.utf8_mode)
print([f.__name__ for f in sys.meta_path if 'six' not in str(f)])
for f in sys.stdin, sys.stdout, sys.stderr:
    print(f, f.errors, f.line_buffering, f.write_through, f.newlines, f.mode)
print(sys.stdout.buffer, sys.stdout is sys.__stdout__, sys.stdin.buffer)
print(threading.current_thread() is threading.main_thread())
print(threading.enumerate(), os.listdir('/proc/self/fd'), os.umask(18))
print(sys.stdin.read() == '', sys.excepthook, sys.displayhook)
END
	['its arguments', "import sys\nprint(sys.argv[1:])",
		qr/\A\['a b', '', '-x', '\x{e9}'\]/, args => ['a b', '', '-x', "\x{e9}"]],
	['its environment', "import os\nprint(os.environ['A'], os.environ['TZ'])",
		qr/\Ab UTC\n/, env => { A => 'b', TZ => 'UTC' }],
	['signals', <<'END'],
import signal
print([(s, signal.getsignal(s)) for s in signal.valid_signals()])
print(signal.pthread_sigmask(signal.SIG_BLOCK, []))
END
	['limits', <<'END'],
import resource as r
print([r.getrlimit(getattr(r, n)) for n in sorted(dir(r))
       if n.startswith('RLIMIT_') and n != 'RLIMIT_DATA'])
END

	# --- how it ends ---
	['sys.exit(7)', 'import sys; sys.exit(7)', undef, code => 7],
	['exit()', 'exit()', undef, code => 0],
	['sys.exit(None)', 'raise SystemExit', undef, code => 0],
	['sys.exit(-1)', 'import sys; sys.exit(-1)', undef, code => 255],
	['sys.exit(1 << 40)', 'import sys; sys.exit(1 << 40)', undef, code => 0],
	['sys.exit(1 << 80)', 'import sys; sys.exit(1 << 80)', undef, code => 255],
	['sys.exit(True)', 'import sys; sys.exit(True)', undef, code => 1],
	['sys.exit(text)', "import sys; sys.exit('why')", undef, code => 1,
		err => qr/\Awhy\n\z/],
	['os._exit(3)', "import os; print('x', end=''); os._exit(3)", qr/\Ax\z/,
		code => 3],
	['a signal', 'import os; os.kill(os.getpid(), 9)', undef, code => 137],
	['abort', 'import os; os.abort()', undef, code => 134],
	['an interrupt', 'raise KeyboardInterrupt', undef, code => 130,
		err => qr/KeyboardInterrupt\n\z/],
	['an interrupt by a signal', <<'END', undef, code => 130],
import os, signal, time
os.kill(os.getpid(), signal.SIGINT)
time.sleep(1)
END
	['a thread, at exit, last words', <<'END',
import atexit, sys, threading, time
atexit.register(print, 'at exit')
def late():
    time.sleep(0.1)
    print('thread')
class Last:
    def __del__(self): print('gone', other)
other = 'still here'
a = Last()
b = Last()
b.cycle = b
threading.Thread(target=late).start()
print('end')
sys.exit(3)
END
		qr/\Aend\nthread\nat exit\ngone still here\ngone still here\n\z/,
		code => 3],
	['a child that ends as its parent would', <<'END', qr/\Achild\nparent 5\n\z/, code => 6],
import os, sys
if not (pid := os.fork()):
    print('child')
    sys.exit(5)
print('parent', os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
sys.exit(6)
END
	['a child that is left behind', <<'END', qr/\Aend\n\z/, code => 7],
import os, sys, time
if not os.fork(): time.sleep(60)
print('end')
sys.exit(7)
END
	['a thread that nobody waits for', <<'END', qr/\Aend\n\z/, code => 0],
import threading, time
threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
print('end')
END
	['files that nobody closes', <<'END', undef, files => 3],
import helper
f = open('f', 'w'); f.write('text' * 10)
def g(): return h
h = open('h', 'wb'); h.write(b'bytes')
END
	['output of another kind', <<'END', qr/b\nc/],
import io, os, sys
sys.stdout = io.TextIOWrapper(os.fdopen(1, 'wb', closefd=False))
sys.stdout.write('b\nc')
END
	['closed output', "import sys; print(1); sys.stdout.close()", qr/\A1\n\z/],
	['no errors any more', <<'END', undef, code => 1],
import sys
sys.stderr.close()
def hook(*a): raise TypeError('hook')
sys.excepthook = hook
raise ValueError('bang')
END
	['modules that are none', <<'END', undef, code => 4],
import sys
sys.modules.clear()
sys.exit(4)
END
	['an error at exit', <<'END', undef, code => 0],
import atexit
@atexit.register
def f(): raise ValueError('late')
END

	# --- what it says of errors ---
	['an exception', <<'END', undef, code => 1,
import sys
def f(x):
    return 1 / x
try:
    f(0)
except ZeroDivisionError as e:
    raise ValueError('bang') from e
END
		err => qr/\ATrace.*line 3, in f\n.*direct cause.*ValueError: bang\n\z/s],
	['an exception in a module', "import helper\nhelper.fail()", undef,
		err => qr/mnt.data.helper\.py", line 3, in fail/, code => 1],
	['a group of them, with notes', <<'END', undef, code => 1],
a = ValueError('a')
a.add_note('note')
raise ExceptionGroup('g', [a, TypeError('b')])
END
	['a syntax error', "x = 1\nprint('no'\n", undef, code => 1,
		err => qr/\A  File "[^"]*main\.py", line 2\n.*SyntaxError/s],
	['an indentation error', "if 1:\nprint()", undef, code => 1],
	['a text that does not end', "x = '''\nno end\n", undef, code => 1],
	['an encoding that cannot hold it', "# coding: ascii\nprint('\x{e9}')", undef,
		code => 1],
	['no such module', 'import nothing_of_the_kind', undef, code => 1],
	['recursion', "def f(n): return f(n + 1)\nf(0)", undef, code => 1,
		err => qr/RecursionError/],
	['a warning', "import warnings\nwarnings.warn('w')", undef,
		err => qr/main\.py:2: UserWarning: w\n/],
	['an excepthook', <<'END', qr/hook ValueError/, code => 1],
import sys
sys.excepthook = lambda t, v, tb: print('hook', t.__name__, tb.tb_lineno)
raise ValueError
END
	['one that fails', <<'END', undef, code => 1, err => qr/Original/],
import sys
def hook(*a): raise TypeError('hook')
sys.excepthook = hook
raise ValueError('bang')
END
	['one that exits', <<'END', undef, code => 5],
import sys
def hook(*a): sys.exit(5)
sys.excepthook = hook
raise ValueError('bang')
END
	['an error in a thread', <<'END', undef, code => 0],
import threading
def f(): raise ValueError('bang')
t = threading.Thread(target=f, name='t')
t.start(); t.join()
END
	['an error that nobody sees', <<'END', undef, code => 0],
class C:
    def __del__(self): raise ValueError('bang')
    def __repr__(self): return 'C'
C.__del__.__class__
C()
END

	# --- processes ---
	['fork', <<'END', qr/child\nparent 4\n/, code => 0],
import os, sys
p = os.fork()
if p == 0:
    print('child')
    sys.exit(4)
print('parent', os.waitstatus_to_exitcode(os.waitpid(p, 0)[1]))
END
	['processes of every kind', <<'END', qr/fork 6\nspawn 6\n/, code => 0],
import multiprocessing as mp
def f(x): return 2 * x
if __name__ == '__main__':
    for kind in 'fork', 'spawn':
        with mp.get_context(kind).Pool(2) as pool:
            print(kind, sum(pool.map(f, [1, 2])))
END
	['another python', <<'END', qr/\Aword\nb''\n/],
import subprocess, sys
print(subprocess.run([sys.executable, '-c', 'import helper; print(helper.word)'],
    capture_output=True, text=True).stdout, end='')
print(subprocess.run(['cat'], capture_output=True).stdout)
END
	['asyncio', <<'END', qr/3\n/],
import asyncio
async def f(): await asyncio.sleep(0.01); return 3
print(asyncio.run(f()))
END
	['pickle of its own classes', <<'END', qr/main.*C/],
import pickle
class C: pass
print(type(pickle.loads(pickle.dumps(C()))))
END
	['an alarm', <<'END', qr/alarm/],
import signal, time
signal.signal(signal.SIGALRM, lambda *a: print('alarm', flush=True))
signal.setitimer(signal.ITIMER_REAL, 0.05)
time.sleep(0.2)
END

	# --- modules ---
	['a module of its own', "import helper\nprint(helper.word)", qr/word/],
	['one that hides one of Python', "import random\nprint(random.mine)",
		qr/yes/, put => { 'random.py' => "mine = 'yes'\n" }],
	['one that hides a library', "import pandas\nprint(pandas.mine)",
		qr/yes/, put => { 'pandas/__init__.py' => "mine = 'yes'\n" }],
	['a file that only looks like it', "print(open('random.csv').read())",
		qr/1,2/, put => { 'random.csv' => '1,2' }],
	['one that starts with it', 'print(1)', qr/custom\n1/,
		put => { 'sitecustomize.py' => "print('custom')\n" }],
	['how it draws', <<'END', qr/agg 3\.0 3\.0/i,
import matplotlib, matplotlib.pyplot as plt
print(matplotlib.get_backend(), *plt.subplots()[0].get_size_inches())
END
		put => { 'matplotlibrc' => "figure.figsize: 3, 3\n" }],
	['a plot', <<'END', qr/\A1 \(640, 480\) /i, code => 0, files => 1],
import matplotlib.pyplot as plt, pandas as pd, io
f = plt.figure()
pd.DataFrame({'a': [1, 2]}).plot(ax=plt.gca())
b = io.BytesIO()
f.savefig(b)
b.seek(0)
print(f.number, plt.imread(b).shape[1::-1], plt.get_fignums())
plt.show()
print(plt.get_fignums(), plt.show.__module__)
END
	['tool calls', <<'END', undef, calls => {}, code => 0],
import os
os.write(3, b'\0\0\0\2{}' + b'\0\0\0\0')
os.close(3)
END
);

for (@same) {
	my ($what, $source, $out, %o) = @$_;
	my ($code, $err, $files) = delete @o{qw(code err files)};
	$o{put} = { 'helper.py' => $helper } if $source =~ /helper/;
	my ($is, $want) = map { seen($_, $source, %o) } $ready, $cold;
	subtest $what => sub {
		is_deeply($is, $want, 'the same');
		like($want->{stdout}, $out, 'and what is printed') if $out;
		like($want->{stderr}, $err, 'and what is said') if $err;
		is($want->{return_code}, $code, 'and the code') if defined $code;
		is(keys %{$want->{files}}, $files, 'and the files') if $files;
	};
}

# What one draws is not what the next does.
my $draw = "import random, numpy\nprint(random.random(), numpy.random.rand())";
isnt(seen($ready, $draw)->{stdout}, seen($ready, $draw)->{stdout},
    'chance is drawn anew');

# The session's interpreter knows nothing of it, nor the other way round.
my $id = $ready->session;
$ready->python($id, 'import random; x = random.mine = 1');
is($ready->run($id, 'py', <<'END')->{content}{stdout}, "False False\n",
import random
print('x' in globals(), hasattr(random, 'mine'))
random.theirs = 2
END
    'a program sees nothing of the interpreter');
is($ready->python($id, 'print(x, hasattr(random, "theirs"))')->{stdout},
    "1 False\n", 'nor it of the program');

# The first program of a ready session need not be made: it is what waited
# there, unless that has run something, is gone, or has other limits.
my $pid = "import os\nprint(os.getpid())";
$id = $ready->session;
is($ready->run($id, 'py', $pid)->{content}{stdout}, "2\n",
    'the first program is the process that waited');
isnt($ready->run($id, 'py', $pid)->{content}{stdout}, "2\n", 'once');
is($ready->python($id, "import sys\nprint('os' in globals(), sys.argv)")->{stdout},
    "False ['']\n", '... and the interpreter is as new');
$id = $ready->session;
$ready->bash($id, 'kill -9 2; while kill -0 2; do sleep 0.1; done 2>&-');
like($ready->run($id, 'py', $pid)->{content}{stdout}, qr/^[^2]\d*\n\z/,
    'one that was killed is replaced');
$id = $ready->session;
my $r = $ready->run($id, 'py', "import os\nprint(os.getpid())\nb'x' * (200 << 20)",
    memory_bytes => 64 << 20);
unlike($r->{content}{stdout}, qr/^2$/, 'less memory is another process');
like($r->{content}{stderr}, qr/MemoryError/, '... that has less');
$id = $ready->session;
$ready->bash($id, 'echo early >/proc/2/fd/1; echo early >/proc/2/fd/2');
is_deeply([@{$ready->run($id, 'py', $pid)->{content}}{qw(stdout stderr)}],
    ["2\n", ''], 'what others have said through it is not its own');

# What a program says of its end is only a hint: nothing of it runs on.
$id = $ready->session;
$r = $ready->run($id, 'py', <<'END');
import ctypes, os, signal, threading
def write():
    with open('f', 'wb', 0) as f:
        while True: f.write(b'x')
threading.Thread(target=write).start()
if not os.fork(): write()
while not os.path.exists('f') or os.path.getsize('f') < 10: pass
ctypes.CDLL(None).sigqueue(1, signal.SIGRTMIN, 5)
write()
END
is($r->{content}{return_code}, 5, 'one that lies about its end is ended');
my $size = length $ready->fetch($id, 'f')->{body};
is(length $ready->fetch($id, 'f')->{body}, $size, '... with all that it has begun');
is($ready->run($id, 'py', 'print(1)')->{content}{stdout}, "1\n",
    '... and the next is none the worse');

$cold->done;
$ready->done;
done_testing;
