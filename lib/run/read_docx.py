# Word: pandoc reads the text; what it passes over is put into the text first:
# headers and footers around their section, text boxes and comments behind the
# paragraph that they belong to.


def paragraph(like, text):
    space = like.tag[:like.tag.index('}') + 1]
    p = tree.Element(space + 'p')
    t = tree.SubElement(tree.SubElement(p, space + 'r'), space + 't')
    t.set('{http://www.w3.org/XML/1998/namespace}space', 'preserve')
    t.text = text
    return p


class Word:
    def __init__(self, package):
        self.package = package
        self.name = package.main('word/document.xml')
        with package.zip.open(self.name) as f:
            for _, (prefix, uri) in tree.iterparse(f, ['start-ns']):
                if prefix and not re.match(r'ns\d+$', prefix):
                    tree.register_namespace(prefix, uri)
        self.root = package.xml(self.name)
        self.parent = {c: p for p in self.root.iter() for c in p}
        self.last = {}

    # The paragraph around ${e}.
    def around(self, e):
        while e in self.parent and local(e) != 'p':
            e = self.parent[e]
        return e

    # Behind ${p} and what has been put there before.
    def put(self, p, new):
        last = self.last.get(p, p)
        parent = self.parent.get(last)
        if parent is None:
            return
        parent.insert(list(parent).index(last) + 1, new)
        self.parent[new] = parent
        self.last[p] = new

    # A text box stands in the drawing, and once more for old programs.
    def boxes(self):
        for top in list(self.root.iter()):
            if local(top) not in ('AlternateContent', 'pict', 'drawing',
                                  'object') or top not in self.parent:
                continue
            boxes = [e for e in walk(top) if local(e) == 'txbxContent']
            if not boxes:
                boxes = below(top, 'txbxContent')
            p = self.around(top)
            if not boxes or local(p) != 'p':
                continue
            self.parent[top].remove(top)
            for e in list(top.iter()):
                self.parent.pop(e, None)
            for box in boxes:
                for child in list(box):
                    self.put(p, child)
                    self.parent.update((c, e) for e in child.iter()
                                       for c in e)

    def comments(self):
        said = {}
        for part in self.package.parts(self.name, 'comments'):
            for c in self.package.xml(part):
                said[attr(c, 'id')] = 'Comment by %s: %s' % (
                    attr(c, 'author', '?'), ' '.join(lines(c)))
        for mark in below(self.root, 'commentReference'):
            text = said.pop(attr(mark, 'id'), None)
            p = self.around(mark)
            if text is not None and local(p) == 'p':
                self.put(p, paragraph(p, text))

    # The texts of what a section names, each once.
    def margin(self, section, which):
        parts = {i: part for i, _, part in self.package.related(self.name)}
        names = [attr(e, 'id') for e in section if local(e) == which +
                 'Reference']
        texts = [s for i in names if i in parts
                 for s in lines(self.package.xml(parts[i]))]
        return ['%s: %s' % (which.capitalize(), s)
                for s in dict.fromkeys(texts)]

    def margins(self):
        body = next(e for e in self.root if local(e) == 'body')
        out, held = [], []
        for e in list(body):
            section = next((x for x in e.iter() if local(x) == 'sectPr'), None)
            if local(e) != 'sectPr':
                held.append(e)
            if section is None:
                continue
            out += [paragraph(body, s) for s in self.margin(section, 'header')]
            out += held
            out += [paragraph(body, s) for s in self.margin(section, 'footer')]
            held = []
            if local(e) == 'sectPr':
                out.append(e)
        body[:] = out + held

    # As a document of its own, without pictures.
    def save(self, path):
        with zipfile.ZipFile(path, 'w') as out:
            for i in self.package.zip.infolist():
                if '/media/' in i.filename or '/embeddings/' in i.filename:
                    continue
                data = tree.tostring(self.root, 'utf-8') \
                    if i.filename == self.name else self.package.zip.read(i)
                out.writestr(i.filename, data)


def read_docx(path):
    word = Word(Package(path))
    word.boxes()
    word.comments()
    word.margins()
    word.save('out.docx')
    run('pandoc', '-f', 'docx', '-t', 'gfm', '--wrap=none', 'out.docx')
