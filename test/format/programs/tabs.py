import sys

if sys:
	x = 1
	if x:
		y = [
1,
			2]
z = y

for i in y:
	z = i
# end