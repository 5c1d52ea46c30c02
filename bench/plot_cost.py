#!/usr/bin/env python3
"""plot_cost.py TABLE SVG: draws how the cost of `assay determinism` grows with the number of CTAs.

TABLE is what bench/run cost prints (tab-separated); the rows of the table `growth` are drawn, seconds of
processor time against CTAs, both logarithmic, a line for each kernel.
"""
import math
import sys

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 440, 70, 150, 24, 52
COLOURS = ("#1f6fb4", "#d1651a", "#2e8b57", "#8a4fa0", "#a33", "#555")


def series(path):
    rows = [line.rstrip("\n").split("\t") for line in open(path)]
    column = {name: n for n, name in enumerate(rows[0])}
    out = {}
    for row in rows[1:]:
        if row[0] == "growth":
            point = int(row[column["CTAs"]]), float(row[column["CPU seconds"]]), row[column["verdict"]]
            out.setdefault(row[column["kernel"]], []).append(point)
    return out


def decades(low, high):
    return range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)


def draw(lines):
    points = [p for line in lines.values() for p in line]
    floor = 1e-3
    ys = decades(floor, max(max(p[1] for p in points), 1))
    most = max(p[0] for p in points)

    def x(ctas):
        return LEFT + (WIDTH - LEFT - RIGHT) * math.log(ctas) / math.log(most)

    def y(seconds):
        share = (math.log10(max(seconds, floor)) - ys[0]) / (ys[-1] - ys[0])
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>']
    for e in ys:
        out.append(f'<path d="M{LEFT} {y(10**e):.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        out.append(f'<text x="{LEFT - 8}" y="{y(10**e) + 4:.1f}" text-anchor="end">{10**e:g} s</text>')
    ctas = 1
    while ctas <= most:
        out.append(f'<path d="M{x(ctas):.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#eee"/>')
        out.append(f'<text x="{x(ctas):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{ctas:,}</text>')
        ctas *= 4
    out.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 12}" text-anchor="middle">CTAs of the launch</text>')
    out.append(f'<text x="16" y="{HEIGHT / 2}" transform="rotate(-90 16 {HEIGHT / 2})" text-anchor="middle">'
               "processor time of all schedules</text>")
    labels = []
    for (name, line), colour in zip(lines.items(), COLOURS):
        path = "L".join(f"{x(p[0]):.1f} {y(p[1]):.1f}" for p in line)
        out.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for p in line:
            decided = p[2] in ("proved", "deterministic")
            out.append(f'<circle cx="{x(p[0]):.1f}" cy="{y(p[1]):.1f}" r="3.5" fill="{colour if decided else "#fff"}" stroke="{colour}"/>')
        labels.append((y(line[-1][1]), name, colour))
    last = -99.0
    for at, name, colour in sorted(labels):
        last = max(at, last + 15)
        out.append(f'<text x="{WIDTH - RIGHT + 10}" y="{last + 4:.1f}" fill="{colour}">{name}</text>')
    return "\n".join(out + ["</svg>"]) + "\n"


with open(sys.argv[2], "w") as svg:
    svg.write(draw(series(sys.argv[1])))
