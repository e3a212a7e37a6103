"""The LaTeX of a formula: from an attribute, an annotation, delimiters in the text, or MathML."""

import re
from collections.abc import Iterator
from html import unescape
from typing import Final
from urllib.parse import unquote

from victor_spark.words import INVISIBLE

_ATTRIBUTE: Final = re.compile(
    r' (?:data-(?:math|tex|latex|expr|formula|equation|original-tex|mathml-tex|tex-source)|alttext)="([^"]*)"'
)
_EXPRESSION: Final = re.compile(r' data-attrs="\{&quot;persistentExpression&quot;:&quot;(.+?)&quot;')
"""The LaTeX of an element that a script fills, in JSON."""
_IN_ADDRESS: Final = re.compile(r"(?:[?&](?:tex|latex|math|formula|chl)=|(?:latex|image|cgi)\?)([^&]+)")
_ANNOTATION: Final = re.compile(
    r'<annotation(?= )[^>]* encoding="[^"]*(?:tex|TeX|latex|LaTeX)[^"]*"[^>]*>([^<]*)<'
)
_MATH: Final = re.compile(r"<(?:mml:)?math(?=[ >])[^>]*>.*?</(?:mml:)?math>", re.DOTALL)
_IN_ATTRIBUTE: Final = re.compile(r' data-mathml="([^"]*)"')
"""The MathML of what MathJax has drawn."""
_DELIMITED: Final = re.compile(
    r"\\\((.*)\\\)|\\\[(.*)\\\]|\$\$(.*)\$\$|\$(.*)\$|\\begin\{displaymath\}(.*)\\end\{displaymath\}",
    re.DOTALL,
)
_DISPLAY: Final = re.compile(
    r'display="(?:block|true)"|mode="display"|katex-display|MathJax_Display|math-?block|(?<!<)math display'
    r"|display-?math|mwe-math-mathml-display|block-equation|math-display|ltx_equation"
)
_EQUATION_LABEL: Final = re.compile(r'<span class="eqno">([^<>]{0,40})(?:<a(?= )[^<>]*>[^<>]*</a>)?</span>')
"""The label of an equation, as Sphinx writes it beside the delimiters."""
_STYLED: Final = re.compile(
    r"\{\s*\\(?:display|text)style\s*(.*)\}|\\displaystyle(?![a-zA-Z])\s*(.*)", re.DOTALL
)
_MAX_FORMULA: Final = 20_000
"""The most characters of the markup of a formula."""


def latex(markup: str) -> tuple[str, bool] | None:
    """The LaTeX of a formula's markup, and whether it is a display formula; None for other markup."""
    labels = _EQUATION_LABEL.findall(markup) if "eqno" in markup else ()
    if labels:
        markup = _EQUATION_LABEL.sub("", markup)
    tag = markup[: markup.find(">") + 1]
    if stated := _EXPRESSION.search(tag):
        return tidy(unescape(stated[1]).replace("\\\\", "\\")), True
    if "ltx_eqn_table" in tag:
        return _of_rows(markup[: _MAX_FORMULA * 20])
    own = _ATTRIBUTE.search(tag)
    if own is None and len(markup) > _MAX_FORMULA * 20:
        return None
    found = own or _ANNOTATION.search(markup)
    is_display = _DISPLAY.search(markup[:600]) is not None
    tex, maths = "", [] if found else _MATH.findall(markup)
    another = found and own is None and _ANNOTATION.search(markup, found.end())
    if another or len(maths) > 1 or "<math" in "".join(maths)[1:]:
        return None  # more than one formula
    stated = found or _ATTRIBUTE.search("".join(maths).partition(">")[0]) or _ATTRIBUTE.search(markup)
    if stated:
        tex = unescape(stated[1])
    elif maths or (stated := _IN_ATTRIBUTE.search(markup)):
        tex = of_mathml(unescape(stated[1]) if stated else maths[0])
    elif (text := markup[len(tag) : markup.rfind("</")]).count("<") < 3:
        text = unescape(re.sub("<[^>]*>", "", text)).strip()
        if inside := _DELIMITED.fullmatch(text):
            is_display = is_display or inside.lastindex in (2, 3, 5)
            tex = inside[inside.lastindex or 0]
        elif _OF_LATEX.search(tag) and LATEX.search(text) and not _WORDS.search(text):
            is_display = is_display or not tag.startswith(("<span", "<code"))
            tex = text
    tex = tidy(tex)
    if tex and len(labels) == 1:
        tex = f"{tex} \\tag{{{labels[0].strip(' ()')}}}"
    return (tex, is_display) if tex else None


_OF_LATEX: Final = re.compile(r'<(?!h\d)[^>]* class="(?:[^"]* )?math[" ]')
LATEX: Final = re.compile(r"[\\^_{]")
_WORDS: Final = re.compile(r"(?<![\\{a-zA-Z])[a-zA-Z]{3,} [a-zA-Z]{2,}")
"""Text without delimiters in an element of this class is LaTeX if it has such signs and no words of prose."""


def _of_rows(markup: str) -> tuple[str, bool] | None:
    """LaTeX of the table in which LaTeXML puts equations: a row is a line, with its label."""
    lines = []
    for row in filter(_ATTRIBUTE.search, markup.split("<tr")):
        terms = " & ".join(tidy(unescape(tex)) for tex in _ATTRIBUTE.findall(row))
        lines.append(terms + "".join(f" \\tag{{{label}}}" for label in _LABEL_IN_ROW.findall(row)[:1]))
    tex = lines[0].replace(" & ", " ") if len(lines) == 1 else _element("mtable", "", lines)
    return (tex, True) if lines else None


_LABEL_IN_ROW: Final = re.compile(r'class="ltx_tag ltx_tag_equation[^>]*>\(?([^<()]{1,20})\)?<')


def of_address(address: str) -> str:
    """The LaTeX in the address of an image, for servers that draw the formula in their address; else ""."""
    found = _IN_ADDRESS.search(address.replace("&space;", " "))
    return unquote(found[1]) if found else ""


def drawn(tag: str) -> tuple[str, bool] | None:
    """The formula that MathJax 2 has drawn before an element with this start tag (`canonical`)."""
    found = _DRAWN.match(tag)
    return (tidy(unescape(found[1])), found[1].startswith("\\[")) if found else None


_DRAWN: Final = re.compile('<span data-tex="([^"]*)"')
ATTRIBUTE: Final = ' data-(?:tex|math|latex|formula|equation)="[^"]*"'
STATING: Final = rf"<(?:span|div)(?= )[^<>]*?{ATTRIBUTE}"
"""The beginning of an element that states the LaTeX of a formula, often of what stands in it."""


def tidy(tex: str) -> str:
    """LaTeX without delimiters and an outermost displaystyle."""
    tex = tex.strip()
    if (inside := _DELIMITED.fullmatch(tex)) and "$" not in (text := inside[inside.lastindex or 0]):
        tex = text.strip()
    if styled := _STYLED.fullmatch(tex):
        tex = styled[styled.lastindex or 0].strip()
    return re.sub(r"\n\s*\n+", "\n", tex.replace("$$", "").strip())


def delimited(tex: str, display: bool) -> str:
    """LaTeX between the delimiters that pages write it with."""
    return f"\\[{tex}\\]" if display else f"\\({tex}\\)"


_COMMENT: Final = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_TOKEN: Final = re.compile(r"<(/?)([\w-]+:)?([\w-]+)([^>]*)>|([^<]+)")
_SYMBOL_NAMES: Final = (
    "α=alpha β=beta γ=gamma δ=delta ε=varepsilon ϵ=epsilon ζ=zeta η=eta θ=theta ι=iota κ=kappa λ=lambda μ=mu"
    " ν=nu ξ=xi π=pi ρ=rho σ=sigma τ=tau υ=upsilon φ=varphi ϕ=phi χ=chi ψ=psi ω=omega Γ=Gamma Δ=Delta"
    " Θ=Theta Λ=Lambda Ξ=Xi Π=Pi Σ=Sigma Φ=Phi Ψ=Psi Ω=Omega ∂=partial ∇=nabla ∞=infty ∑=sum ∏=prod ∫=int"
    " ∮=oint ≤=leq ≥=geq ≠=neq ≈=approx ≡=equiv ∼=sim ≃=simeq ≅=cong ∝=propto ×=times ÷=div ±=pm ∓=mp"
    " ⋅=cdot ·=cdot ∘=circ ∗=ast ⋆=star ⊗=otimes ⊕=oplus ∈=in ∉=notin ∋=ni ⊂=subset ⊆=subseteq ⊃=supset"
    " ⊇=supseteq ∪=cup ∩=cap ∅=emptyset ∀=forall ∃=exists ¬=neg ∧=wedge ∨=vee →=rightarrow ←=leftarrow"
    " ↔=leftrightarrow ⇒=Rightarrow ⇐=Leftarrow ⇔=Leftrightarrow ↦=mapsto ⟨=langle ⟩=rangle ⌊=lfloor"
    " ⌋=rfloor ⌈=lceil ⌉=rceil ‖=| ∥=parallel ⊥=perp ⊢=vdash ⊨=models …=ldots ⋯=cdots ⋮=vdots ⋱=ddots"
    " ′=prime ℝ=mathbb{R} ℕ=mathbb{N} ℤ=mathbb{Z} ℚ=mathbb{Q} ℂ=mathbb{C} ℓ=ell ℏ=hbar ∖=setminus"
    " {={ }=} \\=backslash %=% #=# &=& _=_ $=$ ∣=mid †=dagger"
)
_SYMBOLS: Final = dict(pair.split("=", 1) for pair in _SYMBOL_NAMES.split())
_FUNCTIONS: Final = frozenset(
    "sin cos tan cot sec csc sinh cosh tanh arcsin arccos arctan log ln exp lim max min sup inf det dim ker"
    " gcd deg arg Pr limsup liminf hom".split()
)
_OVER: Final = {
    "¯": "overline", "‾": "overline", "―": "overline", "ˉ": "bar", "^": "hat", "ˆ": "hat", "~": "tilde",
    "˜": "tilde", "rightarrow": "vec", "⃗": "vec", "˙": "dot", ".": "dot", "¨": "ddot", "⏞": "overbrace",
}  # fmt: skip
_UNDER: Final = dict.fromkeys("_¯‾―", "underline") | {"⏟": "underbrace"}
_MAX_DEPTH: Final = 60


def of_mathml(markup: str) -> str:
    """LaTeX for MathML, deeper than 60 nested elements only the text; "" if it is too long."""
    if len(markup) > _MAX_FORMULA:
        return ""
    stack: list[tuple[str, str, list[str]]] = [("math", "", [])]
    for close, _, name, attributes, text in _TOKEN.findall(_COMMENT.sub("", markup)):
        if text:
            words = unescape(" ".join(text.split()))  # a non-breaking space at the end of a text is shown
            words = re.sub(r"\s", " ", words) if stack[-1][0] == "mtext" else " ".join(words.split())
            if words.strip() and stack[-1][0] != "annotation":
                stack[-1][2].append(words)
        elif attributes.endswith("/"):
            stack[-1][2].append(_element(name, attributes, []))
        elif not close:
            stack.append((name if len(stack) < _MAX_DEPTH else "mrow", attributes, []))
        elif len(stack) > 1:
            ended = stack.pop()
            if ended[0] not in ("annotation", "annotation-xml"):
                stack[-1][2].append(_element(*ended))
    while len(stack) > 1:
        ended = stack.pop()
        stack[-1][2].append(_element(*ended))
    return re.sub(r" +", " ", _row(stack[0][2])).strip()


_TABLE: Final = re.compile(r"\\begin\{aligned\}(?:(?!\\begin\{aligned).)*\\end\{aligned\}")
_MATRICES: Final = {("(", ")"): "pmatrix", ("[", "]"): "bmatrix", ("|", "|"): "vmatrix"}
_PILE: Final = re.compile(r"\\genfrac\{\}\{\}\{0pt\}\{\}((?:\{(?:[^{}]|\{[^{}]*\})*\}){2})")
"""A fraction without a line and without the parentheses that `\\binom` has."""


def _row(children: list[str]) -> str:
    """Terms beside each other; parentheses grow with their content, as those of MathML do."""
    children = [child for child in children if child]
    for i in range(len(children) - 2):
        name = _MATRICES.get((children[i], children[i + 2]))
        if name and _TABLE.fullmatch(children[i + 1]):
            children[i : i + 3] = ["", children[i + 1].replace("{aligned}", f"{{{name}}}"), ""]
        elif name == "pmatrix" and (pile := _PILE.fullmatch(children[i + 1])):
            children[i : i + 3] = ["", f"\\binom{pile[1]}", ""]
    if len(children) > 1 and children[-2] == "\\{" and _TABLE.fullmatch(children[-1]):
        children[-2:] = ["", children[-1].replace("{aligned}", "{cases}")]
    if "(" in children and children.count("(") == children.count(")"):
        children = [{"(": "\\left(", ")": "\\right)"}.get(child, child) for child in children]
    return " ".join(filter(None, children))


_SHAPES: Final = {
    "msup": "{base}^{{{two}}}",
    "msub": "{base}_{{{two}}}",
    "msubsup": "{base}_{{{two}}}^{{{three}}}",
    "mover": "\\overset{{{two}}}{{{one}}}",
    "munderover": "{one}_{{{two}}}^{{{three}}}",
    "mfrac": "\\frac{{{one}}}{{{two}}}",
    "mroot": "\\sqrt[{two}]{{{one}}}",
    "msqrt": "\\sqrt{{{row}}}",
    "mphantom": "",
    "mprescripts": "{{}}",
}
_FONTS: Final = {"bold": "mathbf", "double-struck": "mathbb", "script": "mathcal", "fraktur": "mathfrak"}
_VARIANT: Final = re.compile(f' mathvariant="({"|".join(_FONTS)})')
_FENCES: Final = re.compile(r' (open|close|separators)="\s*([^"]*?)\s*"')


def _element(name: str, attributes: str, children: list[str]) -> str:
    one, two, three = (*children, "", "", "")[:3]
    if name in ("mi", "mo") and one in _FUNCTIONS:
        return f"\\{one}"
    if name in ("mi", "mn", "mo") and (variant := _VARIANT.search(attributes)) and (text := _symbols(one)):
        return f"\\{_FONTS[variant[1]]}{{{text}}}"
    if name == "mi":
        text = _symbols(one)
        return f"\\operatorname{{{text}}}" if len(one) > 1 and "\\" not in text and one.islower() else text
    if name == "mo":
        return _symbols(" ".join(children))
    if name in ("mn", "mtext", "ms"):
        text = re.sub("[%#&_${}]", r"\\\g<0>", " ".join(children))
        return f"\\text{{{text}}}" if text and name != "mn" else text
    if name == "mfrac" and re.search(r' linethickness="0(?:\.0*)?[a-z%]*"', attributes):
        return f"\\genfrac{{}}{{}}{{0pt}}{{}}{{{one}}}{{{two}}}"
    if accent := (_OVER if name == "mover" else _UNDER if name == "munder" else {}).get(two.strip("\\")):
        return f"\\{accent}{{{one}}}"
    if name == "munder":
        return f"{one}_{{{two}}}" if one.startswith("\\") else f"\\underset{{{two}}}{{{one}}}"
    if name == "mfenced":
        stated = {name: unescape(value) for name, value in _FENCES.findall(attributes)}
        inside = f"{stated.get('separators', ',')[:1]} ".join(children)
        return _row([_symbols(stated.get("open", "(")), inside, _symbols(stated.get("close", ")"))])
    if name == "mmultiscripts":
        at = children.index("{}") if "{}" in children else len(children)
        after, before = (
            "".join(f"{{}}_{{{low}}}^{{{high}}}" for low, high in zip(some[::2], some[1::2], strict=False))
            for some in (children[1:at], children[at + 1 :])
        )
        return re.sub(r"[_^]\{\}", "", before + one + after[2:])
    if name == "mtr":
        return " & ".join(children)
    if name == "mlabeledtr":
        label = re.sub(r"\\text\{([^{}]*)\}", r"\1", one).strip("() ")
        return f"{' & '.join(children[1:])} \\tag{{{label}}}"
    if name == "mtable":
        rows = " \\\\ ".join(children)
        form = "align" if "\\tag{" in rows else "aligned"
        return one if len(children) == 1 and "&" not in one else f"\\begin{{{form}}}{rows}\\end{{{form}}}"
    base = one if len(one) == 1 or re.fullmatch(r"\\[a-zA-Z]+(\{[^{}]*\})?", one) else f"{{{one}}}"
    row = " ".join(children) if name == "mpadded" else _row(children)
    return _SHAPES.get(name, "{row}").format(base=base, one=one, two=two, three=three, row=row)


def _symbols(text: str) -> str:
    """Characters of mathematics as commands."""
    pieces = [
        f"\\{_SYMBOLS[c]}" if c in _SYMBOLS else "" if c in INVISIBLE else c for c in text.replace("−", "-")
    ]
    return " ".join(pieces) if any(len(piece) > 1 for piece in pieces) else "".join(pieces)


_ENVIRONMENT: Final = r"\{(?:equation|align(?:at)?|gather|multline|eqnarray|flalign)\*?\}"
_IN_TEXT: Final = re.compile(
    r"\$\$(?P<d>[^$]+?)\$\$|(?<!\\)\\\[(?P<b>(?:[^\\]|\\[^\[\]])+?)\\\]|(?<!\\)\\\((?P<i>(?:[^\\]|\\[^()])+?)\\\)"
    r"|(?<![\\$\w])\$(?P<s>(?=\S)[^$\n]{0,300}?(?<=\S))\$(?![\w$])"
    rf"|(?P<e>\\begin{_ENVIRONMENT}(?:(?!\\(?:begin|end){_ENVIRONMENT}).)+\\end{_ENVIRONMENT})",
    re.DOTALL,
)
_LOOKS_SO: Final = re.compile(r"[\\^_={}<>]|^[A-Za-z]'?$|^[A-Za-z] ?[-+*/=] ?\w$")


def in_text(text: str) -> Iterator[tuple[int, int, str | None, bool]]:
    """The text cut at formulas in delimiters: from, to, the LaTeX or None, whether it stands by itself."""
    done = 0
    for match in _IN_TEXT.finditer(text):
        kind = match.lastgroup or ""
        tex = match[kind].strip()
        if not tex or (kind == "s" and not _LOOKS_SO.search(tex)):
            continue
        if text[done : match.start()]:
            yield done, match.start(), None, False
        yield match.start(), match.end(), tex, kind in "dbe"
        done = match.end()
    if text[done:]:
        yield done, len(text), None, False
