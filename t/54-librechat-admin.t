#!/usr/bin/perl

# docs/librechat.md as an operator reads it: its commands are run, its settings
# are loaded, the check says what it did and what is wrong.

use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use FindBin;
use lib "$FindBin::Bin/lib";
use JSON::PP ();
use Test::More;
use Code;
use Satchel qw(run);

my $top = abs_path("$FindBin::Bin/..");
sub slurp { local (@ARGV, $/) = @_; return scalar <> }
my $page = slurp("$top/docs/librechat.md");
my @sh = $page =~ /^```sh\n(.*?)^```/msg;
my @yaml = $page =~ /^```yaml\n(.*?)^```/msg;
is(scalar @sh, 5, 'five blocks of commands');
is(scalar @yaml, 2, 'two of settings');

my $dir = tempdir('lc.XXXXXX', TMPDIR => 1, CLEANUP => 1);
chmod 0755, $dir;
my $r = run('sh', '-euc', "cd $dir\n$sh[0]");
is($r->{exit}, 0, 'the key pair is made') or diag $r->{err};
is(join(' ', glob "$dir/jwt/*"), "$dir/jwt/lc-codeapi-2026-05.pem", '... where it should be');
$r = run('sh', '-euc', "cd $dir\n" . splice(@sh, 1, 1));
is($r->{exit}, 0, 'it goes into the .env') or diag $r->{err};
my $env = slurp("$dir/.env");
like($env, qr/^CODEAPI_JWT_PRIVATE_KEY="[^"\n]+"\n\z/, '... on one line');
is($env =~ s/^.*?"//r =~ s/"\n\z//r =~ s/\\n/\n/gr, slurp("$dir/librechat.pem"),
    '... that is the key');

my $s = Satchel->new(set => {'librechat.jwt.pem_dir' => "$dir/jwt"});
for (0 .. $#yaml) {
	my $file = "$dir/part$_.yml";
	open my $fh, '>', $file or die;
	print $fh $yaml[$_];
	close $fh;
	$r = $s->admin('-c', $file, 'check', '--config-only');
	is($r->{exit}, 0, "settings $_ load") or diag $r->{err};
}
# Every setting that the page names is one.
my $conf = slurp("$top/conf/satchel.yml");
for my $name (grep { $_ ne "pem" } sort keys %{{ map { $_ => 1 } $page =~ /`librechat\.([a-z_.0-9]+)/g }}) {
	like($conf, qr/^  \Q$name\E: /m, "librechat.$name is a setting");
}

mkdir "$dir/bin";
open my $fh, '>', "$dir/bin/satchel-admin" or die;
print $fh "#!/bin/sh\nexec $s->{env}{SATCHEL_ADMIN} \"\$@\"\n";
close $fh;
chmod 0755, "$dir/bin/satchel-admin";
local $ENV{PATH} = "$dir/bin:$ENV{PATH}";
local $ENV{SATCHEL_URL} = $s->{url};

sub check {
	my ($key, @words) = @_;
	local $ENV{SATCHEL_KEY} = $key;
	delete $ENV{SATCHEL_KEY} if !defined $key;
	return @words ? $s->admin('check', 'librechat', @words)
	    : run('sh', '-euc', $sh[1]);
}
my $fine = qr/^ok    upload .*\nok    run .*\nok    download .*\nok    delete .*\n\z/;
$r = check($s->{key}{alice});
is($r->{exit}, 0, 'the check, with a key') or diag $r->{out}, $r->{err};
like($r->{out}, $fine, '... says what it did');
$r = run('sh', '-euc', "cd $dir\n$sh[2]\n$sh[1]\n$sh[3]");
is($r->{exit}, 0, 'a token made by the page') or diag $r->{err};
like($r->{out}, qr/^ok    delete .*\n\{.*"stdout":"hello\\n"/m, '... is let in');
like($s->admin('check')->{out}, qr/^ok +librechat\.jwt +keys of \Q$dir/m,
    'check can read the keys');
chmod 0700, "$dir/jwt" if $> == 0;
rename "$dir/librechat.pem", "$dir/jwt/librechat.pem" or die;
like($s->admin('check')->{out}, qr/^FAIL +librechat\.jwt +\Q$dir\E.* -> make it/m,
    '... and says if it cannot');
rename "$dir/jwt/librechat.pem", "$dir/librechat.pem" or die;
chmod 0755, "$dir/jwt";
my $code = Code->new;
rename "$dir/librechat.pem", "$code->{dir}/lc-codeapi-2026-05" or die;
$r = check($code->token);
like($r->{out}, $fine, 'with a token, signed by the key that the page made');
is(scalar @{$s->get('/v1/files')->{json}{data}}, 0, 'nothing is left behind');
is_deeply([map { $_->[0] } $s->mysql(q{SELECT COUNT(*) FROM workspace
    WHERE tenant = 'legacy'})], [1], 'the tenant has become a workspace');

$r = check(undef);
is($r->{exit}, 1, 'without a credential');
like($r->{out}, qr/^FAIL  upload +status 401: .* -> set SATCHEL_KEY/, '... what to do');
$r = check('sk-satchel-wrong');
like($r->{out}, qr/status 401: .* -> the credential in SATCHEL_KEY is not accepted/,
    'with a wrong one');
$r = check($s->{key}{alice}, '--url', "$s->{url}/nowhere");
is($r->{exit}, 1, 'at a wrong address');
like($r->{out}, qr{^FAIL  upload +status 404: .* -> no such route there: --url ends},
    '... which is what is said');
$r = check($s->{key}{alice}, '--url', "$s->{url}/v1/v1");
like($r->{out}, qr{^FAIL  upload +status 404: .* -> no such route there: --url ends},
    'at one with /v1 twice');
$r = check($s->{key}{alice}, '--json', '--url', $s->{url});
is_deeply([map { "$_->{step} $_->{status}" } @{$r->{json}}],
    ['upload 200', 'run 200', 'download 200', 'delete 200'], 'as JSON, at the root')
    or diag $r->{out};
$s->stop('sandbox');
$r = check($s->{key}{alice}, '--url', $s->{url});
like($r->{out}, qr/^ok    upload .*\nFAIL  run +status 503: .* -> see satchel-admin check/,
    'without a sandbox');
$r = $s->post('/v1/exec', json => { lang => 'py', code => 'print(1)' });
is_deeply([$r->{status}, $r->{head}{'retry-after'}], [503, [5]], '... which says when to ask again');
$s->expect_log(qr/sandbox/i);
$s->done;
done_testing;
