# The same for a program in bash, in which every tool is a function.  A call is a
# process of its own: it finds its answer among those given, or writes what it
# asks for to the sandbox's descriptor and waits to be ended.  Which call is the
# last of a round nobody can tell, so the sandbox waits a little for more.
import fcntl
import json
import os
import tempfile

GIVEN = '_ptc_history.json'
FD = 199

CALL = r'''
import fcntl, json, os, struct, sys, time

home, index, words = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
with open(home + '/given', 'rb') as f:
    given = json.load(f)
tool = given['tools'][index]
try:
    args = json.loads(words[0]) if words else {}
except ValueError:
    args = None
if len(words) > 1 or not isinstance(args, dict):
    sys.stderr.write('%s: takes one argument, a JSON object\n' % tool['ident'])
    sys.exit(2)


def ask(frame):
    data = json.dumps(frame).encode()
    data = struct.pack('>I', len(data)) + data
    while data:
        data = data[os.write(%d, data):]


state = open(home + '/state', 'r+')
fcntl.flock(state, fcntl.LOCK_EX)
seen = json.load(state)
number = seen['made']
seen['made'] += 1
found = None
for i, old in enumerate(given['history']):
    if (i not in seen['used'] and old['name'] == tool['name']
            and old['input'] == args):
        found = old
        seen['used'].append(i)
        break
state.seek(0)
state.truncate()
json.dump(seen, state)
state.flush()
if found is None:
    if (number < len(given['history']) and number not in seen['used']
            and given['history'][number]['name'] == tool['name']):
        ask({'diverged': number + 1})
    else:
        ask({'name': tool['name'], 'input': args})
    fcntl.flock(state, fcntl.LOCK_UN)
    while True:
        time.sleep(3600)
if found['is_error']:
    sys.stderr.write('%s: %s\n' % (tool['ident'], found['result']))
    sys.exit(1)
print(json.dumps(found['result'], ensure_ascii=False, separators=(',', ':')))
'''


def main():
    with open(GIVEN, 'rb') as f:
        text = f.read()
    os.unlink(GIVEN)
    given = json.loads(text)
    home = tempfile.mkdtemp()
    call = CALL.replace('os.write(%d,', 'os.write(%d,' % FD)
    stubs = ['unset BASH_ENV']
    for i, tool in enumerate(given['tools']):
        stubs.append('%s() { /usr/bin/python3 -I -S %s/call %s %d "$@"; }'
                     % (tool['ident'], home, home, i))
        stubs.append('export -f %s' % tool['ident'])
    for name, content in (('given', text), ('call', call.encode()),
                          ('state', b'{"made":0,"used":[]}'),
                          ('stubs', '\n'.join(stubs + ['']).encode()),
                          ('script.sh', given['code'].encode())):
        with open(home + '/' + name, 'wb') as f:
            f.write(content)
    os.dup2(3, FD, inheritable=True)
    os.close(3)
    os.environ['BASH_ENV'] = home + '/stubs'
    for name in ('PYTHONPATH', 'PYTHONDONTWRITEBYTECODE'):
        os.environ.pop(name, None)
    os.execv('/usr/bin/bash', ['bash', home + '/script.sh'])


main()
