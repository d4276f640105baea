# What modules of others do differently here, from when they are loaded: a plot
# that is shown is saved, and an image has bounds.  Interpreters of sessions run
# this first; programs that are started find it as their sitecustomize.

import os, sys

PIXELS = 64 << 20  # Of an image that a program saves, at most.
LETTERS = ('/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc',
           'Noto Sans CJK JP')


def save_on_show(pyplot):
    """Give pyplot a show() that saves: plot_1.png, plot_2.png, ..."""
    count = 0

    def show(*args, **kwargs):
        nonlocal count
        for number in pyplot.get_fignums():
            count += 1
            while os.path.exists('plot_%d.png' % count): count += 1
            pyplot.figure(number).savefig('plot_%d.png' % count)
        pyplot.close('all')

    pyplot.show = show


def bound_images(agg):
    """Refuse an image that would need more memory than it is worth."""
    begin = agg.RendererAgg.__init__

    def __init__(self, width, height, dpi):
        if width * height > PIXELS:
            raise ValueError('an image of %d x %d pixels, of which %d are'
                             ' possible' % (width, height, PIXELS))
        begin(self, width, height, dpi)

    agg.RendererAgg.__init__ = __init__


def add_fonts(fonts):
    """Where a label's font has no such letters, one of many scripts has."""
    from matplotlib import rcParams, rcParamsDefault
    if os.path.exists(LETTERS[0]):
        for parameters in rcParams, rcParamsDefault:
            parameters['font.family'] = ['sans-serif', LETTERS[1]]


ADAPT = {'matplotlib.pyplot': save_on_show,
         'matplotlib.font_manager': add_fonts,
         'matplotlib.backends.backend_agg': bound_images}


class Finder:
    """Adapts a module when it has been loaded, by whomever."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name not in ADAPT: return None
        for finder in sys.meta_path:
            if finder is Finder: continue
            spec = finder.find_spec(name, path, target)
            if spec is not None: break
        else: return None
        adapt, load = ADAPT.pop(name), spec.loader.exec_module

        def exec_module(module):
            load(module)
            adapt(module)

        spec.loader.exec_module = exec_module
        return spec


sys.meta_path.insert(0, Finder)
