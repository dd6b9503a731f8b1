#!/usr/bin/env python3
"""Writes the vector files of the integer kernels from a folder of recorded
results of AMCT and CANN.  Standard library only.

    make_vectors.py GOLDEN_DIR [OUT_DIR]

Each file is text, one field a line (read by tests/vectors.h):

    case ID
    i NAME v v v ...   integers
    b NAME text        binary32 patterns, base64 of little-endian words
    c NAME digits      int8 codes, two hexadecimal digits each
    m NAME digits      one digit per element
    h NAME word        FNV-1a of the little-endian words, -0 taken as +0
    @ NAME path        a .npy array too large to copy, below GOLDEN_DIR

A case with an @ field is skipped, visibly, where the folder is missing.
"""
import ast
import base64
import json
import os
import struct
import sys

LARGE = 16000  # floats; a longer array is referred to, not copied


def npy(path):
    with open(path, 'rb') as f:
        raw = f.read()
    size = struct.unpack('<H', raw[8:10])[0]
    head = ast.literal_eval(raw[10:10 + size].decode('ascii'))
    kind = head['descr']
    body = raw[10 + size:]
    code = {'<f4': 'I', '|i1': 'b', '<i4': 'i', '|u1': 'B'}[kind]
    return list(struct.unpack('<%d%s' % (len(body) // struct.calcsize(code),
                                         code), body)), kind


def hexfloat(scalar):
    text = scalar['hex']
    return float(text) if text in ('nan', 'inf', '-inf') else \
        float.fromhex(text)


def bits(value):
    if value != value:
        return 0x7fc00000
    return struct.unpack('<I', struct.pack('<f', value))[0]


class Golden:
    def __init__(self, root, kernel):
        self.root, self.kernel = root, kernel
        with open(os.path.join(root, kernel, 'cases.json')) as f:
            self.cases = json.load(f)['cases']

    def array(self, a):
        """(values, is_float); floats as bit patterns."""
        if 'file' in a:
            v, kind = npy(os.path.join(self.root, self.kernel, a['file']))
            return v, kind == '<f4'
        if a['values'] and isinstance(a['values'][0], dict):
            return [bits(hexfloat(x)) for x in a['values']], True
        return list(a['values']), a.get('dtype', 'float32') == 'float32'


class Out:
    def __init__(self, folder, name, origin):
        self.f = open(os.path.join(folder, name), 'w')
        self.f.write('# %s, by tests/vectors/make_vectors.py from %s\n'
                     % (name, origin))

    def case(self, name):
        self.f.write('case %s\n' % name)

    def ints(self, name, *v):
        self.f.write('i %s %s\n' % (name, ' '.join(str(int(x)) for x in v)))

    def floats(self, name, v):
        raw = struct.pack('<%dI' % len(v), *v)
        self.f.write('b %s %s\n' % (name, base64.b64encode(raw).decode()))

    def codes(self, name, v):
        self.f.write('c %s %s\n' % (name, ''.join('%02x' % (x & 255)
                                                  for x in v)))

    def mask(self, name, v):
        self.f.write('m %s %s\n' % (name, ''.join(str(x) for x in v)))

    def hash(self, name, v):
        h = 0x811c9dc5
        for word in v:
            for byte in struct.pack('<I', 0 if word == 0x80000000 else word):
                h = ((h ^ byte) * 0x01000193) & 0xffffffff
        self.f.write('h %s %d\n' % (name, h))

    def array(self, golden, name, a):
        """Copies an array, or refers to it if it is large."""
        v, is_float = golden.array(a)
        if len(v) >= (LARGE if is_float else 2 * LARGE):
            self.f.write('@ %s %s/%s\n' % (name, golden.kernel, a['file']))
        elif is_float:
            self.floats(name, v)
        elif all(-128 <= x < 128 for x in v):
            self.codes(name, v)
        else:
            self.ints(name, *v)


def layout_shape(shape, layout, groups):
    """outer, channels, inner, groups of struct qrt_shape."""
    def product(v):
        n = 1
        for x in v:
            n *= x
        return n
    if groups:
        g = groups
        return shape[0] // g, shape[1], product(shape[2:]), g
    return 1, shape[0], product(shape[1:]), 1


def arq(root, folder):
    g = Golden(root, 'arq')
    o = Out(folder, 'arq.txt', 'golden/arq (AMCT arq_cali, arq_real)')
    for c in g.cases:
        p, e = c['params'], c['expect']
        w = c['inputs']['weight']
        o.case(c['id'])
        o.ints('bits', p['num_bits'])
        o.ints('per_channel', p['channel_wise'])
        o.ints('asymmetric', p['with_offset'])
        o.ints('shape', *layout_shape(w['shape'], p['layout'],
                                      p['deconv_group']))
        o.array(g, 'w', w)
        if 'error' in e:
            o.ints('error', 1)
            continue
        o.array(g, 'scale', e['scale'])
        o.ints('zero', *g.array(e['offset'])[0])
        o.hash('fake', g.array(e['fakequant'])[0])
        if 'int_weight' in e:
            o.array(g, 'q', e['int_weight'])


def quant(root, folder):
    g = Golden(root, 'quant')
    o = Out(folder, 'quant.txt', 'golden/quant (AMCT quantize functions, '
            'FakeQuant; CANN ascend_quant_v2 golden)')
    ops = {'true_quantize': 0, 'fake_anti_quantize': 1,
           'fake_quant_module': 2, 'ascend_quant': 3}
    modes = {'round': 0, 'floor': 1, 'ceil': 2, 'trunc': 3}
    for c in g.cases:
        p, e = c['params'], c['expect']
        o.case(c['id'])
        o.ints('op', ops[p['op']])
        o.ints('bits', p['num_bits'])
        o.ints('mode', modes[p.get('round_mode', 'round')])
        o.ints('sqrt_mode', p.get('sqrt_mode', False))
        shape = c['inputs']['x']['shape']
        per_channel = len(g.array(c['inputs']['scale'])[0]) > 1
        n = 1
        for s in shape:
            n *= s
        o.ints('shape', 1, shape[0] if per_channel else 1,
               n // shape[0] if per_channel else n, 1)
        o.array(g, 'x', c['inputs']['x'])
        o.array(g, 'scale', c['inputs']['scale'])
        o.ints('zero', *g.array(c['inputs']['offset'])[0])
        for name, key in (('q', 'q'), ('y', 'y'),
                          ('q_minus_zero', 'q_minus_offset'),
                          ('dequant', 'dequant_of_q_minus_offset')):
            if key in e:
                o.array(g, name, e[key])
        if 'dequant_scale' in e:
            o.floats('dequant_scale', [bits(hexfloat(e['dequant_scale']))])


def requant(root, folder):
    g = Golden(root, 'requant_dequant_antiquant')
    o = Out(folder, 'requant.txt', 'golden/requant_dequant_antiquant '
            '(formulas of AscendRequant, VREQ8, FakeDeQuant, AscendAntiQuant)')
    for c in g.cases:
        p, e = c['params'], c['expect']
        shape = c['inputs']['x']['shape']
        o.case(c['id'])
        o.ints('relu', p['relu_flag'])
        o.ints('offset', p['offset'])
        o.ints('shape', 1, shape[0], shape[1], 1)
        o.array(g, 'x', c['inputs']['x'])
        o.array(g, 'x8', c['inputs']['x8'])
        o.array(g, 'scale', c['inputs']['scale'])
        o.array(g, 'requant', e['requant'])
        o.array(g, 'requant_offset', e['requant_with_offset'])
        o.array(g, 'dequant', e['dequant'])
        o.array(g, 'anti', e['antiquant'])
        o.array(g, 'anti_sqrt', e['antiquant_sqrt_mode'])


def bias(root, folder):
    g = Golden(root, 'bias_quant')
    o = Out(folder, 'bias.txt', 'golden/bias_quant (AMCT quant_bias)')
    for c in g.cases:
        e = c['expect']
        o.case(c['id'])
        for name in ('bias', 'scale_w', 'scale_d'):
            o.array(g, name, c['inputs'][name])
        if 'int32' in e:
            o.ints('q', *g.array(e['int32'])[0])
        else:
            o.ints('error', 1)


def words(root, folder):
    g = Golden(root, 'dequant_word')
    o = Out(folder, 'words.txt', 'golden/dequant_word (AMCT '
            'fuse_dequant_param, cast_to_s19; CANN trans_quant_param)')
    def halves(text):
        v = int(text, 16)
        return [v >> 32, v & 0xffffffff]
    for c in g.cases:
        p, e = c['params'], c['expect']
        o.case(c['id'])
        o.floats('scale', [int(p['scale_bits'], 16)])
        o.ints('offset_w', p['offset_w'])
        o.floats('offset', [bits(hexfloat(p['offset_float']))])
        o.floats('s19', [int(e['cast_to_s19_bits'], 16)])
        for name, key in (('amct', 'amct_word'), ('amct_s19', 'amct_word_s19'),
                          ('round0', 'trans_quant_param_v2_round0'),
                          ('round1', 'trans_quant_param_v2_round1'),
                          ('round0_offset', 'v2_round0_with_offset'),
                          ('round1_offset', 'v2_round1_with_offset')):
            o.floats(name, halves(e[key]))


def pack4(root, folder):
    g = Golden(root, 'int4_pack')
    o = Out(folder, 'pack4.txt', 'golden/int4_pack (AMCT pack_along_axis)')
    for c in g.cases:
        e, a = c['expect'], c['inputs']['int4_values']
        axis, shape = c['params']['axis'], a['shape']
        outer = inner = 1
        for i, s in enumerate(shape):
            if i < axis:
                outer *= s
            if i > axis:
                inner *= s
        o.case(c['id'])
        o.ints('shape', outer, shape[axis], inner, 1)
        o.array(g, 'codes', a)
        if 'error' in e:
            o.ints('error', 1)
        else:
            o.array(g, 'packed', e['packed'])


def ulq(root, folder):
    g = Golden(root, 'ulq_amct')
    o = Out(folder, 'ulq.txt', 'golden/ulq_amct (AMCT ulq_retrain)')
    for c in g.cases:
        p, e = c['params'], c['expect']
        o.case(c['id'])
        o.ints('bits', p['num_bits'])
        o.ints('fixed_min', p['fixed_min'])
        o.ints('asymmetric', p['asymmetric'])
        o.floats('clips', [bits(hexfloat(p[k])) for k in
                           ('clip_max', 'clip_min', 'clip_max_pre',
                            'clip_min_pre')])
        if 'error' in e:
            o.ints('error', 1)
            continue
        o.floats('clips_out', [bits(hexfloat(e['clip_max_out'])),
                               bits(hexfloat(e['clip_min_out']))])
        o.floats('scale', [bits(hexfloat(e['scale']))])
        o.ints('zero', e['offset'])
        o.ints('outside', e['n_upper'], e['n_lower'])
        o.array(g, 'x', c['inputs']['x'])
        o.array(g, 'g', c['inputs']['grad_output'])
        o.array(g, 'y', e['output'])
        # Where the input's gradient passes.
        gi, _ = g.array(e['grad_input'])
        if len(gi) < LARGE:
            o.mask('pass', [int(v & 0x7fffffff != 0) for v in gi])
        for name, key in (('grad_max', 'grad_clip_max'),
                          ('grad_min', 'grad_clip_min')):
            for field in ('ref64', 'abs_sum'):
                v = struct.pack('<d', hexfloat(e[key][field]))
                o.floats('%s_%s' % (name, field),
                         list(struct.unpack('<2I', v)))


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    root = sys.argv[1]
    folder = sys.argv[2] if len(sys.argv) == 3 else \
        os.path.dirname(os.path.abspath(__file__))
    for maker in (arq, quant, requant, bias, words, pack4, ulq):
        maker(root, folder)


if __name__ == '__main__':
    main()
