# OpenDocument: text by pandoc, sheets and slides by what they hold.


class Open:
    def __init__(self, path):
        self.package = Package(path)
        manifest = 'META-INF/manifest.xml'
        if manifest in self.package.names and below(
                self.package.xml(manifest), 'encryption-data'):
            sys.exit(LOCKED)
        self.root = self.package.xml('content.xml')

    # Names of the styles that ${name} is false of.
    def hidden(self, name):
        return {attr(s, 'name') for s in below(self.root, 'style')
                if any(attr(e, name) in ('false', 'hidden') for e in s)}


# What a paragraph says; a comment in it is something else.
def odf_line(p):
    text = p.text or ''
    for e in p:
        if local(e) == 's':
            text += ' ' * min(int(attr(e, 'c', '1')), 100)
        elif local(e) in ('tab', 'line-break'):
            text += ' '
        elif local(e) not in ('annotation', 'annotation-end', 'note'):
            text += odf_line(e)
        text += e.tail or ''
    return text


def odf_lines(e):
    if local(e) in ('p', 'h'):
        text = ' '.join(odf_line(e).split())
        return [text] if text else []
    if local(e) in ('annotation', 'notes'):
        return []
    return [s for child in e for s in odf_lines(child)]


def odf_comments(e):
    for c in below(e, 'annotation'):
        author = ''.join(x.text or '' for x in below(c, 'creator'))
        yield 'Comment by %s: %s' % (author or '?', ' '.join(
            s for x in c for s in odf_lines(x)))


def odf_value(cell):
    kind = attr(cell, 'value-type')
    if attr(cell, 'value') != '':
        return float(attr(cell, 'value'))
    if kind == 'date':
        return attr(cell, 'date-value').replace('T', ' ')
    if kind == 'boolean':
        return attr(cell, 'boolean-value').upper()
    return '\n'.join(odf_lines(cell)) or attr(cell, 'formula')


# As print_sheet() wants them; a number stands for as many empty rows.
def ods_rows(table):
    for row in walk(table):
        if local(row) != 'table-row':
            continue
        cells, at = {}, 0
        for cell in row:
            if local(cell) not in ('table-cell', 'covered-table-cell'):
                continue
            n = int(attr(cell, 'number-columns-repeated', '1'))
            value = odf_value(cell)
            if value != '':
                cells.update((at + i, value) for i in range(min(n, 16384)))
            at += n
        n = int(attr(row, 'number-rows-repeated', '1'))
        if not cells:
            yield n
        for _ in range(n if cells else 0):
            yield cells


def read_ods(path):
    book = Open(path)
    hidden = book.hidden('display')
    for table in below(book.root, 'table'):
        if not print_sheet(attr(table, 'name'), ods_rows(table),
                           attr(table, 'style-name') in hidden):
            break
        for s in odf_comments(table):
            print(s)


def read_odp(path):
    show = Open(path)
    hidden = show.hidden('visibility')
    for number, page in enumerate(below(show.root, 'page'), 1):
        print('## Slide %d%s' % (number, ' (hidden)' if attr(
            page, 'style-name') in hidden else ''))
        for shape in page:
            tables = below(shape, 'table')
            for table in tables:
                print_table([[' '.join(odf_lines(c)) for c in r]
                             for r in below(table, 'table-row')])
            for s in [] if tables else odf_lines(shape):
                print(s)
        for notes in below(page, 'notes'):
            for s in (s for x in notes for s in odf_lines(x)):
                print('Notes: ' + s)
        for s in odf_comments(page):
            print(s)


# pandoc reads neither headers and footers nor comments.
def read_odt(path):
    text = Open(path)
    styles = text.package.xml('styles.xml') \
        if 'styles.xml' in text.package.names else tree.Element('none')
    around = {k: dict.fromkeys(s for e in below(styles, k)
                               for s in odf_lines(e))
              for k in ('header', 'footer')}
    for s in around['header']:
        print('Header: %s\n' % s)
    sys.stdout.flush()
    run('pandoc', '-f', 'odt', '-t', 'gfm', '--wrap=none', path)
    for s in odf_comments(text.root):
        print('\n' + s)
    for s in around['footer']:
        print('\nFooter: ' + s)
