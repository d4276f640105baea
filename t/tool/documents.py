#!/usr/bin/python3
"""Write one document of every kind that models are read, into a directory."""
import subprocess
import sys
import zipfile

import matplotlib
matplotlib.use('Agg')
import matplotlib.pyplot as plt
import openpyxl

to = sys.argv[1]
matplotlib.rcParams['pdf.fonttype'] = 42


def figure(name, draw, **more):
    fig = plt.figure(figsize=(6, 3))
    draw(fig)
    fig.savefig(f'{to}/{name}', **more)
    plt.close(fig)


figure('text.pdf', lambda f: f.text(0.1, 0.5, 'Invoice 4711', fontsize=30))
figure('scan.png', lambda f: f.text(0.1, 0.5, 'Receipt 2042', fontsize=40),
       dpi=150)
figure('blank.png', lambda f: None, dpi=50)


def scan(fig):
    axes = fig.add_axes([0, 0, 1, 1])
    axes.imshow(plt.imread(f'{to}/scan.png'))
    axes.axis('off')


figure('scan.pdf', scan, dpi=200)

with open(f'{to}/in.md', 'w') as f:
    f.write('# Title\n\nHello **Österreich**.\n\n| a | b |\n|---|---|\n'
            '| 1 | 2 |\n')
for form in ('docx', 'odt', 'epub', 'html'):
    subprocess.run(['pandoc', '-s', '--metadata', 'title=T', '-o',
                    f'{to}/doc.{form}', f'{to}/in.md'], check=True)

with open(f'{to}/doc.rtf', 'w') as f:
    f.write(r"{\rtf1\ansi\ansicpg1252 Hello {\b \'d6sterreich}\par}")

book = openpyxl.Workbook()
book.active.title = 'Sales'
book.active.append(['sku', 'qty'])
book.active.append(['A1', 20])
book.save(f'{to}/doc.xlsx')

A = 'http://schemas.openxmlformats.org/drawingml/2006/main'
with zipfile.ZipFile(f'{to}/doc.pptx', 'w') as z:
    for n, text in ((10, 'Last'), (2, 'First')):
        z.writestr(f'ppt/slides/slide{n}.xml',
                   f'<p xmlns:a="{A}"><a:p><a:r><a:t>{text}</a:t></a:r>'
                   '<a:r><a:t> slide</a:t></a:r></a:p></p>')
