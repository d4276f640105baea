# Runs a program that calls its caller's tools, from the beginning in every
# round.  What it is given stands in a file of the working directory that is
# gone before the program begins; a call that has been answered returns at once,
# one that has not suspends.  Once nothing else can go on, all of those are
# written to descriptor 3 together, and the sandbox ends the run.
import ast
import asyncio
import fcntl
import inspect
import json
import linecache
import os
import selectors
import struct
import sys
import time
import traceback
import types

GIVEN = '_ptc_history.json'
NAME = '<code>'


class ToolExecutionError(Exception):
    pass


ToolExecutionError.__module__ = '__main__'


class Round:
    def __init__(self, given, fd):
        self.history = given['history']
        self.fd = fd
        self.made = 0
        self.pending = []

    def ask(self, frames):
        sys.stdout.flush()
        sys.stderr.flush()
        for frame in frames + [b'']:
            data = struct.pack('>I', len(frame)) + frame
            while data:
                data = data[os.write(self.fd, data):]
        while True:
            time.sleep(3600)

    async def call(self, name, args):
        # What the tool gets is what the text says, whatever made it.
        text = json.dumps(args)
        args = json.loads(text)
        number = self.made
        self.made += 1
        if number < len(self.history):
            old = self.history[number]
            if old['name'] != name or old['input'] != args:
                self.ask([json.dumps({'diverged': number + 1}).encode()])
            if old['is_error']:
                raise ToolExecutionError(old['result'])
            return old['result']
        self.pending.append(json.dumps({'name': name, 'input': args}).encode())
        await asyncio.get_running_loop().create_future()


class Selector(selectors.DefaultSelector):
    """Waits like any other, but asks before it would have to."""

    round = None

    def select(self, timeout=None):
        ready = super().select(0)
        if ready or (timeout is not None and timeout <= 0):
            return ready
        if self.round.pending:
            self.round.ask(self.round.pending)
        return super().select(timeout)


def stub(turn, tool):
    params = tool['params']
    by = {p['ident']: p for p in params}

    async def call(*args, **given):
        if len(args) > len(params):
            raise TypeError('%s() takes at most %d arguments'
                            % (tool['ident'], len(params)))
        for p, value in zip(params, args):
            if p['ident'] in given:
                raise TypeError('%s() got two values for %s'
                                % (tool['ident'], p['ident']))
            given[p['ident']] = value
        out = {}
        for ident, value in given.items():
            p = by.get(ident)
            if p is None and not tool['open']:
                raise TypeError('%s() has no parameter %s'
                                % (tool['ident'], ident))
            if value is None and not (p and p['required']):
                continue
            out[p['name'] if p else ident] = value
        for p in params:
            if p['required'] and p['name'] not in out:
                raise TypeError('%s() needs the parameter %s'
                                % (tool['ident'], p['ident']))
        return await turn.call(tool['name'], out)

    call.__name__ = call.__qualname__ = tool['ident']
    return call


def show(error):
    """As the interpreter would, but without our own frames."""
    tb = error.__traceback__
    while tb is not None and tb.tb_frame.f_code.co_filename != NAME:
        tb = tb.tb_next
    told = traceback.TracebackException(type(error), error, tb)
    own = [f for f in told.stack if f.filename != __file__]
    told.stack = traceback.StackSummary.from_list(own)
    sys.stderr.write(''.join(told.format()))


def main():
    with open(GIVEN, 'rb') as f:
        given = json.load(f)
    os.unlink(GIVEN)
    fd = fcntl.fcntl(3, fcntl.F_DUPFD_CLOEXEC, 200)
    os.close(3)
    turn = Round(given, fd)

    module = types.ModuleType('__main__')
    names = module.__dict__
    names.update(asyncio=asyncio, json=json,
                 ToolExecutionError=ToolExecutionError)
    for tool in given['tools']:
        names[tool['ident']] = stub(turn, tool)
    sys.modules['__main__'] = module
    sys.argv = ['main.py']
    source = given['code']
    linecache.cache[NAME] = (len(source), None, source.splitlines(True), NAME)

    selector = Selector()
    selector.round = turn
    loop = asyncio.SelectorEventLoop(selector)
    asyncio.set_event_loop(loop)

    async def run():
        # Outside the function, names are the module's.
        code = compile(source, NAME, 'exec', dont_inherit=True,
                       flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        result = types.FunctionType(code, names)()
        if inspect.iscoroutine(result):
            await result

    try:
        loop.run_until_complete(run())
    except SystemExit:
        raise
    except BaseException as error:
        show(error)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(1)
    # Calls that nobody waited for are no error.
    loop.set_exception_handler(lambda loop, context: None)


main()
