#!/usr/bin/python3
"""Write documents that are hard to read whole into a directory."""
import datetime
import hashlib
import random
import re
import subprocess
import sys
import zipfile

import openpyxl
from matplotlib import font_manager
from openpyxl.comments import Comment
from PIL import Image, ImageDraw, ImageFont

to = sys.argv[1]


def write(name, data):
    with open(f'{to}/{name}', 'wb') as f:
        f.write(data if isinstance(data, bytes) else data.encode())


def pack(name, parts):
    with zipfile.ZipFile(f'{to}/{name}', 'w') as z:
        for part, data in parts.items():
            z.writestr(part, data)


# Texts.
words = 'Stadt;Umsatz\r\nKöln;5'
for name, coding in (('utf16le', 'utf-16-le'), ('utf16be', 'utf-16-be'),
                     ('utf32', 'utf-32-le'), ('utf8', 'utf-8')):
    write(f'{name}.csv', ('\ufeff' + words).encode(coding))
write('cp1252.csv', words.encode('cp1252'))
write('euro.txt', 'Café 5 €é'.encode('cp1252'))
write('koi8.txt', 'Привет'.encode('koi8-r'))
write('prolog.xml', '<?xml version="1.0" encoding="iso-8859-2"?><a>Łódź</a>'
      .encode('iso-8859-2'))
write('meta.html', ('<html><head><meta charset="windows-1251"></head><body><p>'
                    'Привет <b>мир</b></p>').encode('cp1251'))
write('utf16.html', '\ufeff<p>Łódź</p>'.encode('utf-16-le'))
write('draw.svg', '<svg xmlns="http://www.w3.org/2000/svg"><text>Hi</text>'
      '</svg>')


# Workbooks.
def patch(name, part, change):
    with zipfile.ZipFile(f'{to}/{name}') as z:
        parts = {i.filename: z.read(i) for i in z.infolist()}
    was = parts[part].decode()
    parts[part] = change(was).encode()
    assert parts[part] != was.encode()
    pack(name, parts)


def sheet(name, cells):
    book = openpyxl.Workbook()
    for at, value in cells.items():
        book.active[at] = value
    book.active.title = 'S'
    book.save(f'{to}/{name}')


SHEET = 'xl/worksheets/sheet1.xml'
sheet('dim.xlsx', {f'{c}{n}': f'{c}{n}' for n in range(1, 6) for c in 'ABC'})
patch('dim.xlsx', SHEET, lambda s: re.sub('<dimension [^>]*>',
                                          '<dimension ref="A1"/>', s))
sheet('far.xlsx', {'XFD1048576': 'corner'})
sheet('ends.xlsx', {'A1': 'top', 'A1048576': 'end'})
sheet('gaps.xlsx', {'A1': 'a', 'C1': 'c', 'A3': 1, 'C3': 2.5})

book = openpyxl.Workbook()
s = book.active
s.title = 'Facts'
s.append(['when', 'what', 'true', 'sum'])
s.append([datetime.datetime(2024, 3, 1), 'first', True, '=1+1'])
s.append([datetime.datetime(2024, 3, 1, 9, 30), 'second', False, '=A9'])
s.merge_cells('A4:C4')
s['A4'] = 'merged'
s['B2'].comment = Comment('Look here', 'Ann')
s = book.create_sheet('Secret')
s['A1'] = 'kept quiet'
s.sheet_state = 'hidden'
book.save(f'{to}/facts.xlsx')
patch('facts.xlsx', SHEET, lambda s: s.replace(
    '<f>1+1</f><v />', '<f>1+1</f><v>2</v>').replace(
    '<f>1+1</f><v></v>', '<f>1+1</f><v>2</v>'))

DRAWN = ('<x:wsDr xmlns:x="urn:x" xmlns:a="http://schemas.openxmlformats.org/'
         'drawingml/2006/main"><x:txBody><a:p><a:r><a:t>Drawn on it</a:t></a:r>'
         '</a:p></x:txBody></x:wsDr>')
patch('facts.xlsx', 'xl/worksheets/_rels/sheet1.xml.rels', lambda s: s.replace(
    '</Relationships>', '<Relationship Id="d1" Type="http://schemas.'
    'openxmlformats.org/officeDocument/2006/relationships/drawing" '
    'Target="../drawings/drawn.xml"/></Relationships>'))
with zipfile.ZipFile(f'{to}/facts.xlsx', 'a') as z:
    z.writestr('xl/drawings/drawn.xml', DRAWN)

# A picture, as a camera that was held upright stores it; and others.
font = ImageFont.truetype(font_manager.findfont('DejaVu Sans'), 60)


def picture(text, mode='RGB', paper='white'):
    page = Image.new(mode, (900, 160), paper)
    ImageDraw.Draw(page).text((40, 40), text, 'black', font)
    return page


exif = Image.Exif()
exif[0x0112] = 6
picture('Parcel number 4711').transpose(Image.ROTATE_90).save(
    f'{to}/turned.jpg', exif=exif, quality=95)
picture('Clear glass', 'RGBA', (0, 0, 0, 0)).save(f'{to}/clear.png')
picture('Page one').save(f'{to}/pages.tif', save_all=True,
                         append_images=[picture('Page two')])

# Word: each text stands in a part or a place of its own.
W = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main'
R = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
RELS = 'http://schemas.openxmlformats.org/package/2006/relationships'
NS = (f'xmlns:w="{W}" xmlns:r="{R}" xmlns:mc="http://schemas.openxmlformats.'
      'org/markup-compatibility/2006" xmlns:v="urn:schemas-microsoft-com:vml" '
      'xmlns:wps="http://schemas.microsoft.com/office/word/2010/'
      'wordprocessingShape" mc:Ignorable="wps"')


def p(text, more=''):
    return f'<w:p><w:r><w:t>{text}</w:t></w:r>{more}</w:p>'


def rels(*rows):
    return f'<Relationships xmlns="{RELS}">' + ''.join(
        f'<Relationship Id="r{n}" Type="{R}/{kind}" Target="{part}"/>'
        for n, (kind, part) in enumerate(rows, 1)) + '</Relationships>'


box = f'<w:txbxContent>{p("In the box")}</w:txbxContent>'
pack('margins.docx', {
    '[Content_Types].xml':
        '<Types xmlns="http://schemas.openxmlformats.org/package/2006/'
        'content-types"><Default Extension="rels" ContentType="application/'
        'vnd.openxmlformats-package.relationships+xml"/><Override PartName="/'
        'word/document.xml" ContentType="application/vnd.openxmlformats-office'
        'document.wordprocessingml.document.main+xml"/></Types>',
    '_rels/.rels': rels(('officeDocument', 'word/document.xml')),
    'word/_rels/document.xml.rels': rels(
        ('header', 'header1.xml'), ('footer', 'footer1.xml'),
        ('comments', 'comments.xml')),
    'word/document.xml': f'<w:document {NS}><w:body>' + p('First words') + p(
        'Beside the box', '<w:r><mc:AlternateContent><mc:Choice Requires='
        f'"wps"><w:drawing><wps:txbx>{box}</wps:txbx></w:drawing></mc:Choice>'
        f'<mc:Fallback><w:pict><v:textbox>{box}</v:textbox></w:pict>'
        '</mc:Fallback></mc:AlternateContent></w:r>') + p(
        'Disputed words', '<w:r><w:commentReference w:id="7"/></w:r>') + p(
        'Last words') + '<w:sectPr><w:headerReference w:type="default" '
        'r:id="r1"/><w:footerReference w:type="default" r:id="r2"/></w:sectPr>'
        '</w:body></w:document>',
    'word/header1.xml': f'<w:hdr {NS}>{p("At the top")}</w:hdr>',
    'word/footer1.xml': f'<w:ftr {NS}>{p("At the bottom")}</w:ftr>',
    'word/comments.xml': f'<w:comments {NS}><w:comment w:id="7" w:author='
        f'"Ann">{p("I doubt it")}</w:comment></w:comments>',
})
with zipfile.ZipFile(f'{to}/margins.docx') as z:
    pack('large', {'word/media/image1.bin': random.Random(1).randbytes(200000),
                   **{i.filename: z.read(i) for i in z.infolist()}})
with open(f'{to}/margins.docx', 'rb') as f:
    write('half.docx', f.read()[:900])
flagged = bytearray(open(f'{to}/margins.docx', 'rb').read())
for at in [m.start() for m in re.finditer(b'PK\x01\x02', flagged)]:
    flagged[at + 8] |= 1
write('flagged.docx', bytes(flagged))

# PowerPoint: the show's order is not that of the names.
A = 'http://schemas.openxmlformats.org/drawingml/2006/main'
P = (f'xmlns:a="{A}" xmlns:r="{R}" xmlns:p="http://schemas.openxmlformats.org/'
     'presentationml/2006/main" xmlns:mc="http://schemas.openxmlformats.org/'
     'markup-compatibility/2006"')


def said(text, kind=''):
    place = f'<p:nvPr><p:ph type="{kind}"/></p:nvPr>' if kind else ''
    return (f'<p:sp>{place}<p:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p>'
            '</p:txBody></p:sp>')


def cells(*texts):
    return '<a:tr>' + ''.join(
        f'<a:tc><a:txBody><a:p><a:r><a:t>{t}</a:t></a:r></a:p></a:txBody>'
        '</a:tc>' for t in texts) + '</a:tr>'


pack('show.pptx', {
    '_rels/.rels': rels(('officeDocument', 'ppt/presentation.xml')),
    'ppt/presentation.xml': f'<p:presentation {P}><p:sldIdLst><p:sldId '
        'id="256" r:id="r2"/><p:sldId id="257" r:id="r1"/></p:sldIdLst>'
        '</p:presentation>',
    'ppt/_rels/presentation.xml.rels': rels(
        ('slide', 'slides/slide1.xml'), ('slide', 'slides/slide2.xml')),
    'ppt/slides/slide1.xml': f'<p:sld {P} show="0"><p:cSld><p:spTree>'
        + said('Stored first') + '</p:spTree></p:cSld></p:sld>',
    'ppt/slides/slide2.xml': f'<p:sld {P}><p:cSld><p:spTree>' + said(
        'Shown first') + '<mc:AlternateContent><mc:Choice>' + said('New form')
        + '</mc:Choice><mc:Fallback>' + said('Old form') + '</mc:Fallback>'
        '</mc:AlternateContent><p:graphicFrame><a:tbl>' + cells('sku', 'qty')
        + cells('A1', '20') + '</a:tbl></p:graphicFrame></p:spTree></p:cSld>'
        '</p:sld>',
    'ppt/slides/_rels/slide2.xml.rels': rels(
        ('notesSlide', '../notesSlides/notesSlide1.xml'),
        ('chart', '../charts/chart1.xml')),
    'ppt/charts/chart1.xml': f'<c:chartSpace xmlns:c="urn:c" xmlns:a="{A}">'
        '<c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>Growth</a:t></a:r>'
        '</a:p></c:rich></c:tx></c:title><c:ser><c:tx><c:v>North</c:v></c:tx>'
        '<c:cat><c:v>Q1</c:v><c:v>Q2</c:v></c:cat><c:val><c:v>5</c:v><c:v>7'
        '</c:v></c:val></c:ser></c:chart></c:chartSpace>',
    'ppt/notesSlides/notesSlide1.xml': f'<p:notes {P}><p:cSld><p:spTree>'
        + said('Speak slowly', 'body') + said('1', 'sldNum')
        + '</p:spTree></p:cSld></p:notes>',
})

# OpenDocument.
OD = 'urn:oasis:names:tc:opendocument:xmlns:'
ODF = ' '.join(f'xmlns:{k}="{OD}{v}:1.0"' for k, v in (
    ('office', 'office'), ('table', 'table'), ('text', 'text'),
    ('style', 'style'), ('draw', 'drawing'), ('presentation', 'presentation'),
    ('manifest', 'manifest')))


def odf(name, kind, body, more=None):
    pack(name, {
        'mimetype': f'application/vnd.oasis.opendocument.{kind}',
        'content.xml': f'<office:document-content {ODF}>{body}'
        '</office:document-content>', **(more or {})})


odf('sheet.ods', 'spreadsheet', '<office:automatic-styles><style:style '
    'style:name="h" style:family="table"><style:table-properties '
    'table:display="false"/></style:style></office:automatic-styles>'
    '<office:body><office:spreadsheet><table:table table:name="Sales">'
    '<table:table-row><table:table-cell office:value-type="string"><office:'
    'annotation><text:p>A note</text:p></office:annotation><text:p>sku</text:p>'
    '</table:table-cell><table:table-cell office:value-type="float" '
    'office:value="20" table:number-columns-repeated="2"><text:p>20 pcs</text:p>'
    '</table:table-cell></table:table-row><table:table-row '
    'table:number-rows-repeated="1048573"><table:table-cell '
    'table:number-columns-repeated="16384"/></table:table-row>'
    '<table:table-row><table:table-cell office:value-type="date" '
    'office:date-value="2024-03-01"><text:p>1 March</text:p></table:table-cell>'
    '</table:table-row></table:table><table:table table:name="Quiet" '
    'table:style-name="h"><table:table-row><table:table-cell><text:p>hidden'
    '</text:p></table:table-cell></table:table-row></table:table>'
    '</office:spreadsheet></office:body>')
odf('show.odp', 'presentation', '<office:body><office:presentation><draw:page>'
    '<draw:frame><draw:text-box><text:p>Open slide</text:p></draw:text-box>'
    '</draw:frame><presentation:notes><draw:frame><draw:text-box><text:p>'
    'Say it</text:p></draw:text-box></draw:frame></presentation:notes>'
    '</draw:page></office:presentation></office:body>')
subprocess.run(['pandoc', '-f', 'markdown', '-o', f'{to}/letter.odt'],
               input=b'Dear all', check=True)
patch('letter.odt', 'content.xml', lambda s: s.replace(
    'Dear all', 'Dear all<office:annotation><text:p>Too stiff</text:p>'
    '</office:annotation>'))
patch('letter.odt', 'styles.xml', lambda s: re.sub(
    '<style:footer>.*?</style:footer>', '<style:header><text:p>Our house'
    '</text:p></style:header><style:footer><text:p>Page end</text:p>'
    '</style:footer>', s, 1, re.S))
odf('locked.ods', 'spreadsheet', '', {
    'META-INF/manifest.xml': f'<manifest:manifest {ODF}><manifest:file-entry>'
    '<manifest:encryption-data/></manifest:file-entry></manifest:manifest>'})

# With a password: Microsoft's form, and a PDF.
write('locked.xlsx', b'\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1' + bytes(1000)
      + 'EncryptedPackage'.encode('utf-16-le') + bytes(1000))
write('old.doc', b'\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1' + bytes(2000))


def rc4(key, data):
    box, j, out = list(range(256)), 0, bytearray()
    for i in range(256):
        j = (j + box[i] + key[i % len(key)]) % 256
        box[i], box[j] = box[j], box[i]
    i = j = 0
    for c in data:
        i = (i + 1) % 256
        j = (j + box[i]) % 256
        box[i], box[j] = box[j], box[i]
        out.append(c ^ box[(box[i] + box[j]) % 256])
    return bytes(out)


PAD = bytes.fromhex('28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e80'
                    '2f0ca9fe6453697a')
word = (b'secret' + PAD)[:32]
owner = rc4(hashlib.md5(word).digest()[:5], word)
key = hashlib.md5(word + owner + b'\xfc\xff\xff\xff' + b'0' * 16).digest()[:5]
objects = [
    b'<</Type/Catalog/Pages 2 0 R>>', b'<</Type/Pages/Kids[3 0 R]/Count 1>>',
    b'<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]>>',
    b'<</Filter/Standard/V 1/R 2/P -4/O<' + owner.hex().encode() + b'>/U<'
    + rc4(key, PAD).hex().encode() + b'>>>']
pdf, places = b'%PDF-1.4\n', []
for n, body in enumerate(objects, 1):
    places.append(len(pdf))
    pdf += b'%d 0 obj\n%s\nendobj\n' % (n, body)
start = len(pdf)
pdf += b'xref\n0 5\n0000000000 65535 f \n' + b''.join(
    b'%010d 00000 n \n' % at for at in places)
ident = b'<' + (b'0' * 16).hex().encode() + b'>'
write('locked.pdf', pdf + b'trailer\n<</Size 5/Root 1 0 R/Encrypt 4 0 R/ID['
      + ident + ident + b']>>\nstartxref\n%d\n%%%%EOF\n' % start)
