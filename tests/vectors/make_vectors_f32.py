#!/usr/bin/env python3
"""Writes the vector files of the float kernels that the integer kernels have
no use for.  Standard library only.

    make_vectors_f32.py GOLDEN_DIR [OUT_DIR]

The files are those of make_vectors.py, with three more kinds of line (read by
tests/vectors_f32.h):

    d NAME text        binary64 values, base64 of little-endian words
    a NAME text        before the first case: binary32 patterns that several
                       cases share
    r NAME ARRAY       that array is this case's field
"""
import base64
import os
import struct
import sys

from make_vectors import Golden, Out, bits, hexfloat

SHARE = 10001  # elements; a longer array is referred to, not copied


class OutF32(Out):
    def __init__(self, folder, name, origin):
        self.f = open(os.path.join(folder, name), 'w')
        self.f.write('# %s, by tests/vectors/make_vectors_f32.py from %s\n'
                     % (name, origin))

    def doubles(self, name, v):
        raw = struct.pack('<%dd' % len(v), *v)
        self.f.write('d %s %s\n' % (name, base64.b64encode(raw).decode()))

    def refer(self, golden, name, a):
        self.f.write('@ %s %s/%s\n' % (name, golden.kernel, a['file']))

    def shared(self, golden, arrays):
        """Copies arrays to the head of the file, once each."""
        self.known = set()
        for a in arrays:
            if 'file' not in a or a['file'] in self.known:
                continue
            v, _ = golden.array(a)
            if len(v) < SHARE:
                self.known.add(a['file'])
                raw = struct.pack('<%dI' % len(v), *v)
                self.f.write('a %s %s\n' % (a['file'],
                                            base64.b64encode(raw).decode()))

    def use(self, golden, name, a):
        """Refers to a shared array, copies a small one or names the file."""
        if a.get('file') in self.known:
            self.f.write('r %s %s\n' % (name, a['file']))
        elif 'file' in a:
            self.refer(golden, name, a)
        else:
            self.floats(name, golden.array(a)[0])


def doubles(golden, a):
    if 'file' not in a:
        return [hexfloat(x) for x in a['values']]
    path = os.path.join(golden.root, golden.kernel, a['file'])
    with open(path, 'rb') as f:
        raw = f.read()
    body = raw[10 + struct.unpack('<H', raw[8:10])[0]:]
    return list(struct.unpack('<%dd' % (len(body) // 8), body))


def scalar(o, name, s):
    o.floats(name, [bits(hexfloat(s))])


def size(a):
    n = 1
    for s in a['shape']:
        n *= s
    return n


def ulq_scale(root, folder):
    g = Golden(root, 'ulq_scale_amct')
    o = OutF32(folder, 'ulq_scale_f32.txt', 'golden/ulq_scale_amct '
               '(AMCT ulq_scale_retrain)')
    for c in g.cases:
        p, e = c['params'], c['expect']
        w = c['inputs']['weight']
        o.case(c['id'])
        o.ints('bits', p['num_bits'])
        o.ints('init', p['arq_init'])
        o.ints('reciprocal', p['s_rec_flag'])
        o.ints('shape', w['shape'][0], size(w) // w['shape'][0])
        o.array(g, 'w', w)
        o.array(g, 'g', c['inputs']['grad_output'])
        o.array(g, 'scale', c['inputs']['scale'])
        o.array(g, 'scale_out', e['scale_out'])
        o.array(g, 'y', e['output'])
        o.array(g, 'grad', e['grad_scale'])


def acts_ulq(root, folder):
    g = Golden(root, 'acts_ulq_cann')
    o = OutF32(folder, 'acts_ulq_cann_f32.txt', 'golden/acts_ulq_cann '
               '(model of the CANN kernel; CANN golden.py for gradients)')
    copied = ('aul000', 'aul001', 'aul002', 'aul004', 'aul005', 'aul006',
              'aul011', 'aul012', 'aul013', 'aul014', 'aul015', 'aul020')
    for c in g.cases:
        p, e = c['params'], c['expect']
        o.case(c['id'])
        o.ints('fixed_min', p['fixed_min'])
        scalar(o, 'clamp_min', p['clamp_min'])
        scalar(o, 'clamp_max', p['clamp_max'])
        for name, key in (('x', 'x'), ('g', 'y_grad')):
            a = c['inputs'][key]
            if c['id'] in copied:
                o.array(g, name, a)
            else:
                o.refer(g, name, a)
        scalar(o, 'scale', e['scale'])
        o.ints('offset', e['offset_m'])
        scalar(o, 'clip_min', e['clip_min'])
        scalar(o, 'clip_max', e['clip_max'])
        for name, key in (('y', 'y'), ('loss', 'x_clamped_loss'),
                          ('x_grad', 'x_grad'), ('min_mask',
                                                 'clamp_min_mask'),
                          ('max_mask', 'clamp_max_mask')):
            o.hash(name, g.array(e[key])[0])
        for name, key in (('max_grad', 'clamp_max_grad_older_op'),
                          ('max_grad_current', 'clamp_max_grad'),
                          ('min_grad', 'clamp_min_grad')):
            o.doubles(name, [hexfloat(e[key]['ref64']),
                             hexfloat(e[key]['abs_tol'])])


def wts_arq(root, folder):
    g = Golden(root, 'wts_arq_cann')
    o = OutF32(folder, 'wts_arq_cann_f32.txt', 'golden/wts_arq_cann '
               '(formula of the CANN operator)')
    for c in g.cases:
        e, w = c['expect'], c['inputs']['w']
        o.case(c['id'])
        o.ints('offset_flag', c['params']['offset_flag'])
        channels = size(c['inputs']['w_min'])
        o.ints('shape', channels, size(w) // channels)
        o.array(g, 'w', w)
        o.array(g, 'w_min', c['inputs']['w_min'])
        o.array(g, 'w_max', c['inputs']['w_max'])
        o.array(g, 'scale', e['scale'])
        o.array(g, 'offset', e['offset'])
        o.hash('y', g.array(e['y'])[0])


def hfmg(root, folder):
    g = Golden(root, 'hfmg_amct')
    o = OutF32(folder, 'hfmg_f32.txt', 'golden/hfmg_amct (AMCT hfmg_forward, '
               'hfmg_merge, torch.histc)')
    for c in g.cases:
        p, e = c['params'], c['expect']
        o.case(c['id'])
        o.ints('bins', p['nbins'])
        o.ints('bits', p['num_bits'])
        o.ints('asymmetric', p['with_offset'])
        for name in ('data', 'data2'):
            if name not in c['inputs']:
                continue
            if c['id'] in ('hfm000', 'hfm003'):
                o.array(g, name, c['inputs'][name])
            else:
                o.refer(g, name, c['inputs'][name])
        o.ints('histogram', *g.array(e['histogram'])[0])
        for name in ('hist_min', 'hist_max', 'scale', 'clip_max', 'clip_min'):
            scalar(o, name, e[name])
        o.ints('offset', e['offset'])


def ifmr(root, folder):
    g = Golden(root, 'ifmr_amct')
    o = OutF32(folder, 'ifmr_f32.txt', 'golden/ifmr_amct (AMCT ifmr_forward)')
    used = {}
    for c in g.cases:
        a = c['inputs']['data']
        used[a.get('file')] = used.get(a.get('file'), 0) + 1
    # The long arrays that most cases use; every short one.
    copied = [c['inputs']['data'] for c in g.cases
              if size(c['inputs']['data']) < 5000 or
              used[c['inputs']['data'].get('file')] >= 5]
    ratios = [c['expect']['ratios'] for c in g.cases if 'ratios' in c['expect']]
    o.shared(g, copied + ratios)
    for c in g.cases:
        p, e = c['params'], c['expect']
        o.case(c['id'])
        o.ints('bits', p['num_bits'])
        o.ints('asymmetric', p['with_offset'])
        o.doubles('percentile', [hexfloat(p['max_percentile']),
                                 hexfloat(p['min_percentile'])])
        o.doubles('search', [hexfloat(p[k]) for k in
                             ('search_start', 'search_end', 'search_step')])
        o.use(g, 'data', c['inputs']['data'])
        if 'error' in e:
            o.ints('error', 1)
            continue
        o.use(g, 'ratios', e['ratios'])
        o.ints('rank', e['rank_max_k'], e['rank_min_k'])
        o.floats('limit', [bits(hexfloat(e[k])) for k in
                           ('max_value', 'min_value')])
        o.ints('index', e['index'], e['index_loss64'])
        scalar(o, 'scale', e['scale'])
        scalar(o, 'offset', e['offset'])
        if size(e['loss64']) <= 400:
            o.doubles('loss', doubles(g, e['loss64']))
            o.array(g, 'scales', e['scale_candidates'])
        else:
            o.refer(g, 'loss', e['loss64'])
            o.refer(g, 'scales', e['scale_candidates'])


def ifmr_cann(root, folder):
    g = Golden(root, 'ifmr_cann')
    o = OutF32(folder, 'ifmr_cann_f32.txt', 'golden/ifmr_cann (model of the '
               'CANN operator)')
    copied = ('cif000', 'cif001', 'cif002', 'cif003', 'cif016', 'cif018',
              'cif021', 'cif022')
    o.shared(g, [c['inputs']['data'] for c in g.cases if c['id'] in copied])
    for c in g.cases:
        p, e = c['params'], c['expect']
        o.case(c['id'])
        o.ints('bits', p['quant_bits'])
        o.ints('with_offset', p['with_offset'])
        o.doubles('search', [hexfloat(x) for x in p['search_range'] +
                             [p['search_step'], p['max_percentile'],
                              p['min_percentile']]])
        o.use(g, 'data', c['inputs']['data'])
        o.ints('cumsum', *g.array(c['inputs']['cumsum'])[0])
        scalar(o, 'data_min', c['inputs']['data_min'])
        scalar(o, 'data_max', c['inputs']['data_max'])
        o.ints('steps', e['n_candidates'])
        o.ints('bins', e['max_bin'], e['min_bin'])
        scalar(o, 'init_max', e['init_max'])
        scalar(o, 'init_min', e['init_min'])
        o.ints('index', e['index'])
        scalar(o, 'scale', e['scale'])
        scalar(o, 'offset', e['offset'])
        o.doubles('loss', doubles(g, e['loss64']))


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    folder = sys.argv[2] if len(sys.argv) == 3 else \
        os.path.dirname(os.path.abspath(__file__))
    for maker in (ulq_scale, acts_ulq, wts_arq, hfmg, ifmr, ifmr_cann):
        maker(sys.argv[1], folder)


if __name__ == '__main__':
    main()
