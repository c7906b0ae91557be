class Temperature:
    def __init__(self, celsius):
        self._celsius = 0
        self.changes = 0
        self.celsius = celsius

    @property
    def celsius(self):
        return self._celsius

    @celsius.setter
    def celsius(self, value):
        if value < -273.15:
            raise ValueError("too cold")
        self._celsius = value
        self.changes += 1

    @property
    def fahrenheit(self):
        return self._celsius * 9 / 5 + 32

    @staticmethod
    def freezing():
        return Temperature(0)

    @classmethod
    def of_fahrenheit(cls, value):
        return cls((value - 32) * 5 / 9)


outside = Temperature(20)
outside.celsius = 25
warm = outside.fahrenheit
try:
    outside.celsius = -300
except ValueError:
    pass
ice = Temperature.freezing()
body = Temperature.of_fahrenheit(98.6)
print(outside.changes, warm, ice.celsius, body.celsius)
