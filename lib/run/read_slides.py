# PowerPoint: what each slide says, under its number, and what is noted with it.


def print_shapes(e):
    for child in e:
        kind = local(child)
        if kind == 'Fallback':
            continue
        if kind == 'tbl':
            print_table([[' '.join(lines(c)) for c in r if local(c) == 'tc']
                         for r in child if local(r) == 'tr'])
        elif kind == 'p':
            if text_of(child).strip():
                print(text_of(child).strip())
        else:
            print_shapes(child)


def print_table(rows):
    for n, row in enumerate(rows):
        print('| ' + ' | '.join(s.replace('|', '\\|') for s in row) + ' |')
        if n == 0:
            print('|' + ' --- |' * len(row))


# The notes, without the slide's number and the like.
def pptx_notes(root):
    for shape in below(root, 'sp'):
        kinds = {e.get('type') for e in below(shape, 'ph')}
        if not kinds & {'sldNum', 'dt', 'hdr', 'ftr', 'sldImg'}:
            yield from lines(shape)


# A chart's own copy of its numbers, a series a line.
def print_chart(root):
    for title in below(root, 'title')[:1]:
        for s in lines(title):
            print('Chart: ' + s)
    for series in below(root, 'ser'):
        values = {local(e): [v.text or '' for v in below(e, 'v')]
                  for e in series}
        name = ' '.join(values.get('tx', ()))
        keys = values.get('cat') or values.get('xVal') or []
        numbers = values.get('val') or values.get('yVal') or []
        keys += [''] * (len(numbers) - len(keys))
        print('%s: %s' % (name or 'Series', ', '.join(
            ('%s %s' % pair).strip() for pair in zip(keys, numbers))))


# The slides in the order of the show.
def pptx_slides(package):
    main = package.main('ppt/presentation.xml')
    if main in package.names:
        parts = {i: part for i, _, part in package.related(main)}
        # The id without a namespace is a number of its own.
        listed = [parts.get(v) for e in below(package.xml(main), 'sldId')
                  for k, v in e.items() if k.endswith('}id')]
        return list(enumerate((p for p in listed if p), 1))
    found = [re.fullmatch(r'ppt/slides/slide(\d+)\.xml', n)
             for n in package.names]
    return sorted((int(m.group(1)), m.group(0)) for m in found if m)


def read_pptx(path):
    package = Package(path)
    for number, name in pptx_slides(package):
        root = package.xml(name)
        hidden = root.get('show') in ('0', 'false')
        print('## Slide %d%s' % (number, ' (hidden)' if hidden else ''))
        print_shapes(root)
        for part in package.parts(name, 'diagramData'):
            print_shapes(package.xml(part))
        for part in package.parts(name, 'chart'):
            print_chart(package.xml(part))
        for part in package.parts(name, 'notesSlide'):
            for s in pptx_notes(package.xml(part)):
                print('Notes: ' + s)
        for part in package.parts(name, 'comments'):
            root = package.xml(part)
            for s in lines(root) or [e.text or '' for e in
                                     below(root, 'text')]:
                print('Comment: ' + s)
