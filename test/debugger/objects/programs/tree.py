class Tree:
    def __init__(self, key):
        self.key = key
        self.left = None
        self.right = None
        self.children = []

    def insert(self, key):
        if key < self.key:
            if self.left is None:
                self.left = Tree(key)
                self.children.append(self.left)
            else:
                self.left.insert(key)
        else:
            if self.right is None:
                self.right = Tree(key)
                self.children.append(self.right)
            else:
                self.right.insert(key)

    def keys(self):
        found = []
        if self.left:
            found += self.left.keys()
        found.append(self.key)
        if self.right:
            found += self.right.keys()
        return found


def build(keys):
    root = Tree(keys[0])
    for key in keys[1:]:
        root.insert(key)
    return root


root = build([5, 2, 8, 1, 9, 3])
print(root.keys())
