#!/usr/bin/perl

# The protocol's extension "edit": create may overwrite, and what an editor
# command has done is told in fields too.

use strict;
use warnings;
use Test::More;
use Sandbox;

my $s = Sandbox->new;
my $id = $s->session;

ok((grep { $_ eq 'edit' } @{$s->get('/health')->{json}{extensions}}),
    'health announces it');

# What the editor said of a command: [return code, fields].
sub edit {
	my (%input) = @_;
	my $r = $s->exec($id, 'text_editor_code_execution', \%input);
	die "$r->{status}: $r->{body}" if $r->{status} != 200;
	return [$r->{json}{result_block}{content}{return_code}, $r->{json}{edit}];
}
sub change {
	my ($old_start, $old_lines, $new_start, $new_lines, @lines) = @_;
	return [0, { old_start => $old_start, old_lines => $old_lines,
	    new_start => $new_start, new_lines => $new_lines,
	    lines => \@lines }];
}
my ($true, $false) = (JSON::PP::true, JSON::PP::false);

# --- create ---

is_deeply(edit(command => 'create', path => 'f', file_text => "a\nb\nc\n"),
    [0, { is_file_update => $false }], 'create');
is_deeply(edit(command => 'create', path => 'f', file_text => 'x'), [1,
    { error_code => 'invalid_tool_input',
    error_message => 'f: the file exists already' }], 'create again');
is_deeply(edit(command => 'create', path => 'f', file_text => 'x',
    overwrite => $false)->[0], 1, 'without overwrite');
is($s->fetch($id, 'f')->{body}, "a\nb\nc\n", 'which leaves it alone');
is_deeply(edit(command => 'create', path => 'f', overwrite => $true,
    file_text => "1\n2\n3\n4\n"), [0, { is_file_update => $true }],
    'with overwrite');
is($s->fetch($id, 'f')->{body}, "1\n2\n3\n4\n", 'it is replaced');
is_deeply(edit(command => 'create', path => 'new/g', overwrite => $true,
    file_text => ''), [0, { is_file_update => $false }],
    'overwrite where there is nothing');
$s->bash($id, 'ln -s f link; mkdir dir');
for my $path ('link', 'dir', '../out', '/etc/passwd') {
	my $did = edit(command => 'create', path => $path, overwrite => $true,
	    file_text => 'x');
	is("$did->[0] $did->[1]{error_code}", '1 invalid_tool_input',
	    "overwrite $path");
}
is($s->fetch($id, 'f')->{body}, "1\n2\n3\n4\n", 'no link was followed');
is($s->exec($id, 'text_editor_code_execution', { command => 'create',
    path => 'h', file_text => '', overwrite => 1 })->{status}, 422,
    'overwrite of another type');

# --- view ---

sub view { return edit(command => 'view', path => $_[0],
    @_ > 1 ? (view_range => $_[1]) : ()) }
sub seen { return [0, { file_type => $_[3] // 'text', start_line => $_[0],
    num_lines => $_[1], total_lines => $_[2] }] }
is_deeply(view('f'), seen(1, 4, 4), 'view');
is_deeply(view('f', [2, 3]), seen(2, 2, 4), 'some lines');
is_deeply(view('f', [3, -1]), seen(3, 2, 4), 'to the end');
is_deeply(view('f', [4, 99]), seen(4, 1, 4), 'beyond the end');
is_deeply(view('new/g'), seen(1, 0, 0), 'an empty file');
$s->put($id, 'page.pdf', "%PDF\nx");
$s->put($id, 'dot.png', 'png');
is_deeply(view('page.pdf'), seen(1, 2, 2, 'pdf'), 'a document by its name');
is_deeply(view('dot.png'), seen(1, 1, 1, 'image'), 'an image');
is_deeply(view('dir'), [0, { file_type => 'directory' }], 'a directory');
is_deeply(view('none'), [1, { error_code => 'file_not_found',
    error_message => 'none: no such file or directory' }], 'no such file');
is(view('f', [9, 10])->[1]{error_code}, 'invalid_tool_input',
    'a range behind the end');

# --- str_replace and insert ---

sub replace { return edit(command => 'str_replace', path => 'f',
    old_str => $_[0], new_str => $_[1]) }
is_deeply(replace('2', 'two'), change(2, 1, 2, 1, '-2', '+two'), 'one line');
is_deeply(replace("two\n3\n", "2\n"), change(2, 2, 2, 1, '-two', '-3', '+2'),
    'whole lines');
is_deeply(replace("2\n", ''), change(2, 1, 2, 0, '-2'), 'a line goes');
is_deeply(replace("1\n4", "1 4"), change(1, 2, 1, 1, '-1', '-4', '+1 4'),
    'two become one');
is_deeply(replace(" 4\n", "\nb\nc"), change(1, 1, 1, 3, '-1 4', '+1', '+b',
    '+c'), 'the newline at the end goes');
is_deeply(replace('c', "c\n"), change(3, 1, 3, 1, '-c', '+c'),
    'and comes back');
is_deeply(replace("b\n", 'B'), change(2, 2, 2, 1, '-b', '-c', '+Bc'),
    'a line that joins the next');
sub insert { return edit(command => 'insert', path => 'f',
    insert_line => $_[0], new_str => $_[1]) }
is_deeply(insert(0, 'top'), change(1, 0, 1, 1, '+top'), 'at the top');
is_deeply(insert(2, "x\ny\n"), change(3, 0, 3, 2, '+x', '+y'),
    'in the middle');
is($s->fetch($id, 'f')->{body}, "top\n1\nx\ny\nBc\n", 'all of that together');
is(replace('zzz', 'y')->[1]{error_code}, 'invalid_tool_input', 'not in it');
like(edit(command => 'str_replace', path => 'f', old_str => 'x')
    ->[1]{error_message}, qr/new_str/, 'a field that is lacking');
is_deeply(edit(command => 'undo_edit', path => 'f'), [0, {}], 'undo');
is(edit(command => 'insert', path => 'none', insert_line => 0, new_str => '')
    ->[1]{error_code}, 'file_not_found', 'insert into no file');
my $long = 'x' x 100 . "\n";
$s->put($id, 'long', $long x 20000);
my $did = edit(command => 'str_replace', path => 'long', new_str => '',
    old_str => $long x 10000 . 'x' x 10);
is($did->[0], 1, 'an ambiguous one');
$s->put($id, 'long', 'a' . $long x 8000 . 'b');
$did = edit(command => 'str_replace', path => 'long',
    old_str => 'a' . $long x 8000, new_str => 'c');
is("$did->[1]{old_start} $did->[1]{old_lines} $did->[1]{new_lines}",
    '1 8001 1', 'a long change in numbers');
is($did->[0], 0, 'is made');
ok(exists $did->[1]{lines}, 'its lines, or null where they are too long');
ok(!exists $s->exec($id, 'bash_code_execution', { command => ':' })->{json}{edit},
    'no other tool says such a thing');

$s->done;
done_testing();
