# The fields beside the file: purpose, expiry, and for whom it is.

use strict;
use warnings;
use Test::More;
use Files;

my $c = Files->stack(set => { 'files.max_bytes' => 33554432 });
my $kept = Files->stack(set => { 'files.retention_seconds' => 7200 });

# with($fields, %o): upload a small file followed by these fields, an array of
# name, value pairs.
sub with {
	my ($fields, %o) = @_;
	my ($client, $first) = (delete $o{client} // $c, delete $o{first});
	my @f = @$fields;
	my @parts;
	push @parts, part(splice @f, 0, 2) while @f;
	my $file = file_part($o{bytes} // 'some bytes', 'a.txt', 'text/plain');
	delete $o{bytes};
	return $client->upload(form($first ? (@parts, $file) : ($file, @parts)),
	    %o);
}

# The purpose that the answer's file has for an OpenAI caller.
sub purpose_of {
	my ($r) = @_;
	return $r->{status} unless $r->{status} == 200;
	return $c->get("/v1/files/$r->{json}{id}")->{json}{purpose};
}

# Seconds from creation to expiry, 'never', or the status.
sub life {
	my ($r, $client) = @_;
	return $r->{status} unless $r->{status} == 200;
	my $f = ($client // $c)->get("/v1/files/$r->{json}{id}")->{json};
	return 'never' unless defined $f->{expires_at};
	return $f->{expires_at} - $f->{created_at};
}

# --- purpose ---

for my $d (@DIALECTS) {
	is(purpose_of(with([], dialect => $d)), 'user_data',
	    "row 51: no purpose: user_data ($d)");
	is(purpose_of(with([purpose => ''], dialect => $d)), 'user_data',
	    "row 51: an empty purpose: user_data ($d)");
	is(purpose_of(with([purpose => 'my-purpose'], dialect => $d)),
	    'my-purpose', "row 52: an unknown purpose is stored ($d)");
	is(purpose_of(with([purpose => 'fine-tune'], dialect => $d)),
	    'fine-tune', "row 56: purpose after the file ($d)");
	is(purpose_of(with([purpose => 'vision'], dialect => $d, first => 1)),
	    'vision', "row 56: purpose before the file ($d)");
	is(purpose_of(with([purpose => 'p' x 64], dialect => $d)), 'p' x 64,
	    "row 54: 64 characters are no more than allowed ($d)");
}
for (qw(assistants batch fine-tune vision user_data evals)) {
	is(purpose_of(with([purpose => $_])), $_, "the vendor's purpose $_");
}

my $before = $c->stored;
for (qw(code_execution_output assistants_output batch_output
    fine-tune-results)) {
	my $p = $_;
	refused("row 53: the produced purpose $p",
	    '400 O[ire|purpose|invalid_value]', '400 A[ire]',
	    sub { with([purpose => $p], dialect => shift) });
}
for (['65 characters', 'p' x 65], ['a space', 'my purpose'],
    ['another alphabet', "\xc3\xa9"]) {
	my ($what, $p) = @$_;
	refused("row 54: a purpose with $what",
	    '400 O[ire|purpose|invalid_value]', '400 A[ire]',
	    sub { with([purpose => $p], dialect => shift) });
}
refused('row 55: purpose twice', '400 O[ire|purpose|invalid_value]',
    '400 A[ire]', sub { with([purpose => 'batch', purpose => 'batch'],
	dialect => shift) });
refused('a purpose with a NUL', '400 O[ire|purpose|invalid_value]',
    '400 A[ire]', sub { with([purpose => "batch\0"], dialect => shift) });

# --- OpenAI's expiry ---

my ($anchor, $secs) = ('expires_after[anchor]', 'expires_after[seconds]');

# Refused for OpenAI; Anthropic's callers have another field, so theirs is 200
# and never expires.
sub theirs {
	my ($name, $want, @fields) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is(said(with([@fields]), 'openai'), $want, "$name (OpenAI)");
	my $r = with([@fields], dialect => 'anthropic');
	is(life($r), 'never', "$name: ignored (Anthropic)");
	$c->request('DELETE', "/v1/files/$r->{json}{id}") if $r->{json}{id};
}

theirs('row 57: seconds without anchor',
    '400 O[ire|expires_after|missing_required_parameter]', $secs => 3600);
theirs('row 57: anchor without seconds',
    '400 O[ire|expires_after|missing_required_parameter]',
    $anchor => 'created_at');
theirs('row 58: 3599 seconds',
    '400 O[ire|expires_after.seconds|integer_below_min_value]',
    $anchor => 'created_at', $secs => 3599);
theirs('row 58: 2592001 seconds',
    '400 O[ire|expires_after.seconds|integer_above_max_value]',
    $anchor => 'created_at', $secs => 2592001);
for ('abc', '1e4', ' 3600', '3600.5', '', '0x1000') {
	theirs("row 59: seconds '$_'",
	    '400 O[ire|expires_after.seconds|invalid_type]',
	    $anchor => 'created_at', $secs => $_);
}
theirs('row 60: anchor last_active_at',
    '400 O[ire|expires_after.anchor|invalid_value]',
    $anchor => 'last_active_at', $secs => 3600);
theirs('row 63a: expires_after as one field',
    '400 O[ire|expires_after|invalid_type]', expires_after => 3600);
theirs('row 63a: expires_after as JSON',
    '400 O[ire|expires_after|invalid_type]',
    expires_after => '{"anchor":"created_at","seconds":3600}');
is($c->stored =~ s/ files.*//r, $before =~ s/ files.*//r,
    'rows 53 to 63a: refusals leave no row');

for (3600, 2592000) {
	is(life(with([$anchor => 'created_at', $secs => $_])), $_,
	    "$_ seconds are taken");
}

# --- Anthropic's expiry ---

for (3599, 7776001, 'x', '-1', '1e4') {
	my $s = $_;
	refused("row 61: expires_in_seconds $s", undef, '400 A[ire]',
	    sub { with([expires_in_seconds => $s], dialect => shift) });
	is(life(with([expires_in_seconds => $s])), 'never',
	    "row 61: expires_in_seconds $s: ignored (OpenAI)");
}
for (3600, 7776000) {
	my $r = with([expires_in_seconds => $_], dialect => 'anthropic');
	is(life($r), $_, "expires_in_seconds $_ is taken");
	like($r->{json}{expires_at}, qr/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/,
	    "expires_in_seconds $_: as a time");
}

# --- the deployment's retention ---

is(life(with([$anchor => 'created_at', $secs => 86400], client => $kept),
    $kept), 7200, 'row 62: more than the retention (OpenAI)');
is(life(with([expires_in_seconds => 86400], client => $kept,
    dialect => 'anthropic'), $kept), 7200,
    'row 62: more than the retention (Anthropic)');
is(life(with([], client => $kept), $kept), 7200,
    'row 62: the retention is the default');
is(life(with([$anchor => 'created_at', $secs => 3600], client => $kept),
    $kept), 3600, 'row 62: less is granted');

for my $d (@DIALECTS) {
	is(with([colour => 'blue'], dialect => $d)->{status}, 200,
	    "row 63: an unknown field is ignored ($d)");
}

# --- for whom ---

refused('row 64: operator key without user',
    '400 O[ire|user|missing_required_parameter]', '400 A[ire]',
    sub { with([], key => 'admin', dialect => shift) });
refused('row 65: another user named', '403 O[ire|user|permission_denied]',
    '403 A[permission_error]',
    sub { with([user => 'carol'], dialect => shift) });
for my $bytes ('few', 'x' x 400000) {
	my $r = with([user => 'bob'], key => 'admin', bytes => $bytes);
	my $size = length $bytes;
	is($r->{status}, 200, "row 64: operator key for bob, $size bytes");
	is($c->get("/v1/files/$r->{json}{id}", key => 'b')->{status}, 200,
	    "row 64: it is bob's, $size bytes");
	is($c->get("/v1/files/$r->{json}{id}")->{status}, 404,
	    "row 64: and not alice's, $size bytes");
}
is(with([user => 'alice'])->{status}, 200,
    'row 65: naming oneself is no offence');
{
	my $lenient = Files->stack(set => { 'auth.lenient_user' => 'true' });
	is(with([user => 'carol'], client => $lenient)->{status}, 200,
	    'row 65: ignored where configured so');
	$lenient->done;
}

# --- cases of the field ---

{
	my $r = with([$anchor => 'created_at', $secs => 3600]);
	my $j = $r->{json};
	is("$j->{expires_at} $j->{created_at}" =~ /^\d+ \d+$/
	    ? $j->{expires_at} - $j->{created_at} : 'no integers', 3600,
	    'up-expires-after-forms: exactly an hour, both integers');
	my $before = $c->stored;
	for ([$secs, 3599], [$secs, 2592001], [$secs, '3600.5'],
	    [$secs, '99999999999999999999']) {
		my $r = with([$anchor => 'created_at', @$_]);
		is("$r->{status} $r->{json}{error}{param}",
		    '400 expires_after.seconds',
		    "up-expires-after-forms: $_->[1]");
	}
	for ([expires_after => 3600], [$anchor => 'created_at']) {
		my $r = with($_);
		is("$r->{status} $r->{json}{error}{param}",
		    '400 expires_after', "up-expires-after-forms: only $_->[0]");
	}
	is($c->stored, $before,
	    'up-expires-after-forms: refusals leave nothing behind');
}
{
	my @r = (with([]), with([purpose => 'user_data']),
	    with([], dialect => 'anthropic'),
	    with([note => 'x'], dialect => 'anthropic'));
	is(join(' ', map { $_->{status} } @r), '200 200 200 200',
	    'up-purpose-rules: all four are taken');
	for my $r (@r) {
		for my $d (@DIALECTS) {
			is(shape($c->get("/v1/files/$r->{json}{id}",
			    dialect => $d)->{json}, $d), '',
			    "up-purpose-rules: every field is there ($d)");
		}
	}
	is(purpose_of($r[0]), 'user_data',
	    'up-purpose-rules: without purpose it is user_data');
}
{
	my $twenty = 'm' x (20 << 20);
	my $r = with([purpose => 'batch', $anchor => 'created_at',
	    $secs => 3600], bytes => $twenty);
	is("$r->{status} $r->{json}{purpose} "
	    . ($r->{json}{expires_at} - $r->{json}{created_at}),
	    '200 batch 3600', 'up-field-order: fields after 20 MiB count');
	my $before = $c->stored;
	$r = with([purpose => 'code_execution_output'], bytes => $twenty);
	is(said($r, 'openai'), '400 O[ire|purpose|invalid_value]',
	    'up-field-order: a reserved purpose after 20 MiB');
	is($c->stored, $before, 'up-field-order: it leaves no row, no bytes');
}

$kept->done;
$c->done;
done_testing;
