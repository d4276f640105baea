# Pictures and old files of Microsoft's, and where the program begins.


# What is written in a picture, turned as a camera says, on white.
def read_image(path):
    from PIL import Image, ImageOps
    with Image.open(path) as file:
        pages = getattr(file, 'n_frames', 1) if file.format == 'TIFF' else 1
        for n in range(min(pages, 20)):
            file.seek(n)
            page = ImageOps.exif_transpose(file)
            if page.mode in ('RGBA', 'LA', 'PA') or 'transparency' in page.info:
                page = page.convert('RGBA')
                white = Image.new('RGBA', page.size, 'white')
                page = Image.alpha_composite(white, page)
            page.convert('RGB').save('page.png', dpi=file.info.get('dpi'))
            run('tesseract', 'page.png', '-')


# A new file of Microsoft's with a password has the form of the old ones.
def read_ole(path):
    with open(path, 'rb') as f:
        sys.exit(LOCKED if 'EncryptedPackage'.encode('utf-16-le') in f.read()
                 else UNKNOWN)


try:
    globals()['read_' + sys.argv[1]](sys.argv[2])
except ImportError as e:
    print(e, file=sys.stderr)
    sys.exit(ABSENT)
