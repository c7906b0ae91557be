def f(command):
    match command:
        case 1:
            if False:
                return 1
        case _:
            if False:
                return 0
def g(x):
    match x:
        case [
            Point(
                x=0,
                y=yy
            ) as p,
            {
                "a": 1,
                **rest
            },
            *others
        ] if yy > 3 and \
               rest:
            return 1
        case (
            "a"
            | "b"
            | None
        ):
            return 2
        case [[1, 2,
               [3, _]], [_, *_,
              5]]:
            x = 3
        case Foo.bar | Foo(
            1,
            a.b
        ):
            pass
    return 4
def h(n):
    try:
        with a() as b, \
             c(
               1
             ) as (
               d,
               e
             ):
            for i in d: break
            else:
                return n
    finally:
        for q in e:
            if q: continue
            return q
    return 3
async def k(n):
    async with a() as b, c():
        async for i in b:
            if i: break
        else:
            await z(
              1,
              2)
        return [
            await q
            async for q in r
            if q
            for z in q
        ]
def m(n):
    x = (a and
         b or
         c) if (d <
         e < f) else (
         not g
         and h)
    return {
        'a': x,
        **n,
        'b': [
            1, *x,
            2],
        'c': f'''a
        {x}
        {n!r:>{
        w}}'''
    }
def gen():
    x = yield (
        1)
    y = yield from g(
       x)
    while (z :=
           y):
        try:
            yield z
        except (A,
                B) as e:
            raise C(
                e) from e
        else:
            continue
        finally:
            if z: return
class A(
    B,
    metaclass=M):
    """doc"""
    x: int = 3
    y: (
      str
    )
    @property
    @deco(
      1)
    def p(self, a=1, *,
          b: int = (
           2)) -> str:
        "doc"
        global G
        G = lambda a, b=(
            1): (a +
            b)
        del self.x, self.y[
            1]
        assert a, (
            "x")
        return super().p
    def __private(self): return __class__, self.__x
