# Spreadsheets: each sheet as CSV, under its name.


def shown(v):
    if isinstance(v, bool):
        return str(v).upper()
    if isinstance(v, float) and v.is_integer() and abs(v) < 1e15:
        return str(int(v))
    if isinstance(v, datetime.datetime):
        return v.date().isoformat() if v.time() == datetime.time() \
            else v.isoformat(' ')
    return str(v)


def count(n, what):
    return '%d empty %s%s' % (n, what, '' if n == 1 else 's')


# Print a sheet of these rows, {column: value} each, empty ones in between;
# return 0 once there is more than anybody is given.
def print_sheet(title, rows, hidden=False):
    print('## ' + title + (' (hidden)' if hidden else ''))
    full, size, last, seen = [], 0, 0, 0
    for row in rows:
        seen += row if isinstance(row, int) else 1
        if isinstance(row, int) or not row:
            continue
        last = seen
        full.append({c: shown(v) for c, v in row.items()})
        size += sum(len(s) + 1 for s in full[-1].values())
        if size > MAX:
            break
    columns = sorted({c for row in full for c in row})
    left_out = [count(n, what) for n, what in (
        (last - len(full), 'row'),
        (columns[-1] + 1 - len(columns) if columns else 0, 'column')) if n]
    if left_out:
        print('[%s left out]' % ' and '.join(left_out))
    out = csv.writer(sys.stdout, lineterminator='\n')
    for row in full:
        out.writerow([row.get(c, '') for c in columns])
    return size <= MAX


# A formula whose value nobody has worked out is told as such.
def xlsx_rows(sheet, formulas):
    for s in (sheet, formulas):
        s.reset_dimensions()
    for row, other in zip(sheet.iter_rows(values_only=True),
                          formulas.iter_rows(values_only=True)):
        cells = {c: v for c, v in enumerate(row) if v not in (None, '')}
        for c, v in enumerate(other):
            if v is not None and c not in cells and v != '':
                cells[c] = getattr(v, 'text', v)
        yield cells


# What lies on a sheet besides its cells.
def xlsx_notes(package, name):
    for part in package.parts(name, 'comments'):
        root = package.xml(part)
        authors = [e.text or '' for e in below(root, 'author')]
        for c in below(root, 'comment'):
            n = int(c.get('authorId', 0))
            print('Comment on %s by %s: %s' % (
                c.get('ref'), authors[n] if n < len(authors) else '?',
                ' '.join(''.join(t.text or '' for t in below(c, 't'))
                         .split())))
    for part in package.parts(name, 'drawing'):
        for s in lines(package.xml(part)):
            print('Text box: ' + s)


def read_xlsx(path):
    import openpyxl
    package = Package(path)
    main = package.main('xl/workbook.xml')
    parts = {i: part for i, _, part in package.related(main)}
    part_of = {e.get('name'): parts.get(attr(e, 'id'))
               for e in below(package.xml(main), 'sheet')}
    book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    formulas = openpyxl.load_workbook(path, read_only=True)
    for sheet in book.worksheets:
        if not print_sheet(sheet.title, xlsx_rows(sheet,
                           formulas[sheet.title]),
                           sheet.sheet_state != 'visible'):
            break
        if part_of.get(sheet.title):
            xlsx_notes(package, part_of[sheet.title])
