# What the readers of documents share.  All of lib/run/read_*.py together are one
# program: read KIND FILE MAX prints what FILE says.

import csv
import datetime
import posixpath
import re
import subprocess
import sys
import xml.etree.ElementTree as tree
import zipfile

MAX = int(sys.argv[3])

# Exit codes, as run/document.c knows them.
LOCKED = 65
UNKNOWN = 66
ABSENT = 127

sys.stdout.reconfigure(encoding='utf-8', errors='replace')


# A program that reads for us.
def run(*words):
    sys.stdout.flush()
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
    except FileNotFoundError:
        print(words[0] + ' is not installed', file=sys.stderr)
        sys.exit(ABSENT)
    if done.returncode != 0:
        sys.exit(1)


def local(e):
    return e.tag.rpartition('}')[2] if isinstance(e.tag, str) else ''


# An attribute, whatever its namespace.
def attr(e, name, default=''):
    for key, value in e.items():
        if key.rpartition('}')[2] == name:
            return value
    return default


def below(e, name):
    return [x for x in e.iter() if local(x) == name]


# A tree in order, without the second of two forms of one thing.
def walk(e):
    yield e
    for child in e:
        if local(child) != 'Fallback':
            yield from walk(child)


# What a paragraph itself says, without paragraphs inside it.
def text_of(e):
    if local(e) == 't':
        return e.text or ''
    if local(e) in ('br', 'cr', 'tab'):
        return ' '
    return ''.join(text_of(child) for child in e
                   if local(child) not in ('p', 'Fallback'))


def lines(e):
    found = (text_of(p).strip() for p in walk(e) if local(p) == 'p')
    return [s for s in found if s]


# A zip file of XML parts that name each other.
class Package:
    def __init__(self, path):
        self.zip = zipfile.ZipFile(path)
        if any(i.flag_bits & 1 for i in self.zip.infolist()):
            sys.exit(LOCKED)
        self.names = set(self.zip.namelist())

    def xml(self, name):
        return tree.fromstring(self.zip.read(name))

    # The parts that ${name} names: (id, kind, part).
    def related(self, name):
        folder, base = posixpath.split(name)
        rels = posixpath.join(folder, '_rels', base + '.rels')
        found = []
        for r in self.xml(rels) if rels in self.names else ():
            part = posixpath.join('/' + folder, r.get('Target', ''))
            part = posixpath.normpath(part).lstrip('/')
            if part in self.names:
                kind = posixpath.basename(r.get('Type', ''))
                found.append((r.get('Id'), kind, part))
        return found

    def parts(self, name, *kinds):
        return [part for _, kind, part in self.related(name) if kind in kinds]

    # The part that everything else hangs on.
    def main(self, default):
        return (self.parts('', 'officeDocument') + [default])[0]
