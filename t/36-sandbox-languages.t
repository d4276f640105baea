#!/usr/bin/perl

# Every language of the table, by the extension "run": what it prints, its
# arguments, its standard input, what does not compile, what fails at run time.

use strict;
use warnings;
use Test::More;
use Kernel;
use Sandbox;

my $s = Sandbox->new;

# Each prints its first argument, how many bytes its standard input held, and
# what an imported file of the workspace says, where that is usual; then exits
# with 7.  Each broken program is one that its compiler, or the interpreter
# before it runs anything, refuses; each failing one fails when it runs.
my %program = (
	py => {
		good => <<'END',
import sys, helper
print(sys.argv[1], len(sys.stdin.read()), helper.word)
sys.exit(7)
END
		broken => "print('no'\n", said => qr/SyntaxError/,
		failing => "raise ValueError('bang')\n",
	},
	js => {
		good => <<'END',
const helper = require('/mnt/data/helper.js');
console.log(process.argv[2], require('fs').readFileSync(0).length,
    helper.word);
process.exit(7);
END
		broken => "let x = ;\n", said => qr/SyntaxError/,
		failing => "throw new Error('bang');\n",
	},
	ts => {
		good => <<'END',
import * as fs from 'fs';
enum Mood { Fine = 1 }
const word: string = require('./helper.js').word;
const size: number = await Promise.resolve(fs.readFileSync(0).length);
console.log(process.argv[2], size * Mood.Fine, word);
process.exit(7);
END
		broken => "let x: = 3;\n", said => qr/main\.ts:1/, compiled => 1,
		failing => "\n\nthrow new Error('bang' as string);\n",
		where => qr/main\.ts:3/,
	},
	c => {
		good => <<'END',
#include <math.h>
#include <stdio.h>
#include "helper.h"
int main(int argc, char **argv) {
	printf("%s %d %s\n", argv[1], (int)sqrt(getchar() + 1), WORD);
	return 7;
}
END
		broken => "int main(void) { return x; }\n", said => qr/undeclared/,
		compiled => 1,
		failing => <<'END', signal => 6,
#include <stdio.h>
#include <stdlib.h>
int main(void) { fputs("bang\n", stderr); abort(); }
END
	},
	cpp => {
		good => <<'END',
#include <iostream>
#include <string_view>
#include "helper.h"
int main(int argc, char **argv) {
	std::string_view a = argv[1];
	std::cout << a << ' ' << std::cin.get() + 1 << ' ' << WORD << std::endl;
	return 7;
}
END
		broken => "int main() { return x; }\n", said => qr/not declared/,
		compiled => 1,
		failing => <<'END', signal => 6,
#include <stdexcept>
int main() { throw std::runtime_error("bang"); }
END
	},
	java => {
		good => <<'END',
import java.nio.file.*;
public class Anything {
	record Word(String s) { }
	public static void main(String[] a) throws Exception {
		Word w = new Word(Files.readString(Path.of("helper.txt")));
		System.out.println(a[0] + " " + System.in.readAllBytes().length
		    + " " + w.s());
		System.exit(7);
	}
}
END
		broken => "public class X { int f() { return \"\"; } }\n",
		said => qr/incompatible types/,
		failing => 'class X { public static void main(String[] a) {'
		    . ' throw new IllegalStateException("bang"); } }',
	},
	php => {
		good => <<'END',
<?php
require 'helper.php';
echo $argv[1], ' ', strlen(stream_get_contents(STDIN)), ' ', WORD, "\n";
exit(7);
END
		broken => "<?php echo 'no\n", said => qr/Parse error|syntax error/,
		failing => "<?php throw new Exception('bang');\n",
	},
	rs => {
		good => <<'END',
use std::io::Read;
fn main() {
    let arg = std::env::args().nth(1).unwrap();
    let mut input = String::new();
    std::io::stdin().read_to_string(&mut input).unwrap();
    let word = std::fs::read_to_string("helper.txt").unwrap();
    println!("{} {} {}", arg, input.len(), word);
    std::process::exit(7);
}
END
		broken => "fn main() { let x: i32 = \"\"; }\n",
		said => qr/mismatched types/, compiled => 1,
		failing => "fn main() { panic!(\"bang\"); }\n",
	},
	go => {
		good => <<'END',
package main

import (
	"fmt"
	"io"
	"os"
)

func main() {
	in, _ := io.ReadAll(os.Stdin)
	word, _ := os.ReadFile("helper.txt")
	fmt.Println(os.Args[1], len(in), string(word))
	os.Exit(7)
}
END
		broken => "package main\nfunc main() { x := 1 }\n",
		said => qr/declared (?:and|but) not used/, compiled => 1,
		failing => "package main\nfunc main() { panic(\"bang\") }\n",
	},
	d => {
		good => <<'END',
import std.stdio, std.file, core.stdc.stdlib;
void main(string[] args) {
	size_t n;
	foreach (chunk; stdin.byChunk(4096)) n += chunk.length;
	writeln(args[1], " ", n, " ", readText("helper.txt"));
	stdout.flush();
	exit(7);
}
END
		broken => "void main() { int x = \"\"; }\n",
		said => qr/cannot implicitly convert/, compiled => 1,
		failing => "void main() { throw new Exception(\"bang\"); }\n",
	},
	f90 => {
		good => <<'END',
program hello
  implicit none
  character(len=64) :: arg, word
  integer :: status, n
  character :: c
  call get_command_argument(1, arg)
  n = 0
  do
    read (*, '(a)', iostat=status) c
    if (status /= 0) exit
    n = n + 1
  end do
  open (10, file='helper.txt')
  read (10, '(a)') word
  print '(a,1x,i0,1x,a)', trim(arg), n, trim(word)
  call exit(7)
end program
END
		broken => "program x\n  implicit none\n  y = 1\nend program\n",
		said => qr/no IMPLICIT type/, compiled => 1,
		failing => "program x\n  error stop 'bang'\nend program\n",
	},
	r => {
		good => <<'END',
word <- readLines('helper.txt', warn = FALSE)
cat(commandArgs(TRUE)[1], length(readLines(file('stdin'))), word)
cat('\n')
quit(status = 7)
END
		broken => "x <- (\n", said => qr/unexpected/,
		failing => "stop('bang')\n",
	},
	bash => {
		good => <<'END',
source helper.sh
echo "$1 $(wc -c) $word"
exit 7
END
		broken => "if true; then\n", said => qr/unexpected end of file/,
		failing => "echo bang >&2; false\n",
	},
);
my %helper = ('helper.py' => "word = 'here'\n",
	'helper.js' => "exports.word = 'here';\n",
	'helper.h' => "#define WORD \"here\"\n", 'helper.txt' => 'here',
	'helper.php' => "<?php const WORD = 'here';\n",
	'helper.sh' => "word=here\n");
my %alias = (py => [qw(python python3 Python)], ts => ['typescript'],
	js => [qw(javascript node nodejs JS)], bash => ['sh'], cpp => ['c++'],
	rs => ['rust'], go => ['golang'], f90 => ['fortran'], d => ['dlang']);

is_deeply([sort @{$s->get('/health')->{json}{languages}}],
    [sort keys %program], 'health lists the languages that can run');

# What a runtime needs more than a hello.
my %more = (
	js => [<<'END', "5 65536\n"],
const { Worker } = require('worker_threads');
const size = new WebAssembly.Memory({ initial: 1 }).buffer.byteLength;
new Worker('require("worker_threads").parentPort.postMessage(5)',
    { eval: true }).on('message', m => console.log(m, size));
END
	php => ["<?php echo mb_strlen('\x{20ac}'), json_encode(['a' => 1]), \"\\n\";",
	    "1{\"a\":1}\n"],
	go => [<<'END', "{\"a\":1} [1 3]\n"],
package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sort"
)

func main() {
	x := []int{3, http.StatusOK - 199}
	sort.Ints(x)
	b, _ := json.Marshal(map[string]int{"a": 1})
	fmt.Println(string(b), x)
}
END
	java => ['import java.util.stream.*; class A { public static void main('
	    . 'String[] a) { System.out.println(IntStream.range(0, 999)'
	    . '.parallel().sum()); } }', "498501\n"],
	r => ["library(Cairo); CairoPNG('p.png'); plot(1:9); invisible(dev.off())"
	    . "; cat(file.size('p.png') > 0, '\\n')", "TRUE \n"],
	py => ["import matplotlib.pyplot as p, pandas as d\np.plot([1, 2])\n"
	    . "p.savefig('m.png')\nprint(d.DataFrame({'a': [4]}).a.sum())",
	    "4\n"],
	rs => ['use std::thread; fn main() { println!("{}", '
	    . 'thread::spawn(|| 5).join().unwrap()); }', "5\n"],
	cpp => ["#include <regex>\n#include <thread>\n#include <iostream>\n"
	    . "int main() { std::thread t([] { std::cout << std::regex_match("
	    . "\"aaa\", std::regex(\"a+\")) << std::endl; }); t.join(); }",
	    "1\n"],
);

my $id = $s->session;
$s->put($id, $_, $helper{$_}) for sort keys %helper;
for my $lang (sort keys %program) {
	my $p = $program{$lang};
	my $a = $s->run($id, $lang, $p->{good}, args => ["an 'argument'", '-x'],
	    manifest => [], timeout => 60, compile_timeout_seconds => 120);
	is($a->{content}{stdout}, "an 'argument' 0 here\n", "$lang: it runs");
	is($a->{content}{stderr}, '', "$lang: and is quiet otherwise");
	is("$a->{content}{return_code} $a->{run}{stage} $a->{run}{ended}",
	    '7 run exit', "$lang: its exit code");
	is_deeply($a->{files}, [], "$lang: it leaves nothing in the workspace");

	$a = $s->run($id, $lang, $p->{broken}, timeout => 60,
	    compile_timeout_seconds => 120);
	like($a->{content}{stderr} . $a->{content}{stdout}, $p->{said},
	    "$lang: what does not compile is told why");
	isnt($a->{content}{return_code}, 0, "$lang: and has failed");
	is($a->{run}{stage}, $p->{compiled} ? 'compile' : 'run',
	    "$lang: at the stage that it has");

	$a = $s->run($id, $lang, $p->{failing}, timeout => 60,
	    compile_timeout_seconds => 120);
	like($a->{content}{stderr}, $p->{where} // qr/bang/,
	    "$lang: an error at run time");
	isnt($a->{content}{return_code}, 0, "$lang: and its code");
	is($a->{run}{signal}, $p->{signal}, "$lang: and what ended it");
}
for my $lang (sort keys %more) {
	my $a = $s->run($id, $lang, $more{$lang}[0], timeout => 60,
	    compile_timeout_seconds => 120);
	is($a->{content}{stdout} . $a->{content}{stderr}, $more{$lang}[1],
	    "$lang: threads, its usual libraries, what they reserve");
}
for my $lang (sort keys %alias) {
	for my $alias (@{$alias{$lang}}) {
		my $r = $s->run_request($id, $alias, "\0");
		like($r->{body}, qr/source holds a NUL/, "$alias is known");
	}
}
$s->del("/sessions/$id");
$s->done;

# The same in sessions that are made otherwise.
for my $how ([bwrap => set => { 'sandbox.isolation' => 'bwrap' }],
    Kernel::has('landlock')
	? [landlock => set => { 'sandbox.isolation' => 'landlock' }] : (),
    [keeper => keeper => 1]) {
	my ($what, @options) = @$how;
	my $t = Sandbox->new(@options);
	$id = $t->session;
	$t->put($id, $_, $helper{$_}) for sort keys %helper;
	for my $lang (sort keys %program) {
		my $text = $program{$lang}{good};
		# Nothing is at that path for programs there.
		$text =~ s{'/mnt/data/}{'}g if $what eq 'landlock';
		my $a = $t->run($id, $lang, $text,
		    args => ['x'], timeout => 60,
		    compile_timeout_seconds => 120);
		is("$a->{content}{stdout}$a->{content}{stderr}", "x 0 here\n",
		    "$lang: with $what too");
	}
	$t->done;
}

# A host without them.
my $few = Sandbox->new(own => { 'sandbox.languages' => <<'END' });
languages:
  - name: py
    file: a.py
    run: [/usr/bin/python3, /tmp/program/a.py]
    packages: python3
  - name: cobol
    aliases: [cob]
    file: a.cob
    compile: [/usr/bin/no-such-compiler, a.cob]
    run: [/tmp/program/a]
    packages: gnucobol
END
is_deeply($few->get('/health')->{json}{languages}, ['py'],
    'health leaves out what is not installed');
$id = $few->session;
my $r = $few->run_request($id, 'COB', 'x');
is("$r->{status} $r->{json}{code}", '422 language_absent',
    'a language without its toolchain is refused');
is($r->{json}{detail}, 'COB is not installed on this host (Debian: gnucobol)',
    'the error names the language and the package');
$r = $few->run_request($id, 'js', 'x');
is("$r->{status} $r->{json}{code}", '422 language_unknown',
    'so is one that is not in the table');
is($few->run($id, 'py', 'print(3)')->{content}{stdout}, "3\n",
    'the others run');
$few->done;
done_testing();
