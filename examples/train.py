"""Trains a small network to tell two spirals apart, in plain Python: no package but Sonde's is needed.

    python3 -m sonde examples/train.py [steps] [batch]
    sonde run -- python3 examples/train.py

Prints the loss as it falls; exits with 1 where it does not. It says what it does with sonde.step(), sonde.scope(),
sonde.counter() and sonde.benchmark(); without a recording these cost next to nothing.
"""

import math
import random
import sys

import sonde


class Layer:
    """A fully connected layer with tanh behind it, or nothing for the last one."""

    def __init__(self, inputs, outputs, last, chance):
        scale = math.sqrt(2.0 / inputs)
        self.weights = [[chance.gauss(0.0, scale) for _ in range(inputs)] for _ in range(outputs)]
        self.biases = [0.0] * outputs
        self.last = last
        self.clear()

    def clear(self):
        self.weight_slopes = [[0.0] * len(row) for row in self.weights]
        self.bias_slopes = [0.0] * len(self.biases)

    def forward(self, values):
        sums = [
            bias + sum(weight * value for weight, value in zip(row, values))
            for row, bias in zip(self.weights, self.biases)
        ]
        return sums if self.last else [math.tanh(total) for total in sums]

    def backward(self, values, outputs, slopes):
        """Takes the loss's slopes for the outputs, keeps those for the weights, gives those for the inputs."""
        if not self.last:
            slopes = [slope * (1.0 - output * output) for slope, output in zip(slopes, outputs)]
        below = [0.0] * len(values)
        for row, row_slopes, slope in zip(self.weights, self.weight_slopes, slopes):
            for i, value in enumerate(values):
                row_slopes[i] += slope * value
                below[i] += slope * row[i]
        for i, slope in enumerate(slopes):
            self.bias_slopes[i] += slope
        return below

    def update(self, rate):
        for row, row_slopes in zip(self.weights, self.weight_slopes):
            for i, slope in enumerate(row_slopes):
                row[i] -= rate * slope
        for i, slope in enumerate(self.bias_slopes):
            self.biases[i] -= rate * slope
        self.clear()


class Network:
    def __init__(self, sizes, chance):
        pairs = list(zip(sizes, sizes[1:]))
        self.layers = [Layer(a, b, i == len(pairs) - 1, chance) for i, (a, b) in enumerate(pairs)]

    @sonde.scope("forward", kind="forward")
    def forward(self, batch):
        kept = []
        for point, _ in batch:
            values = [point]
            for layer in self.layers:
                values.append(layer.forward(values[-1]))
            kept.append(values)
        return kept

    @sonde.scope("backward", kind="backward")
    def backward(self, batch, kept):
        """Slopes for the weights, and the mean loss of the batch."""
        loss = 0.0
        for (_, label), values in zip(batch, kept):
            chance = 1.0 / (1.0 + math.exp(-values[-1][0]))
            loss -= math.log(max(chance if label else 1.0 - chance, 1e-12))
            slopes = [(chance - label) / len(batch)]
            for i in reversed(range(len(self.layers))):
                slopes = self.layers[i].backward(values[i], values[i + 1], slopes)
        return loss / len(batch)

    @sonde.scope("update", kind="optimizer")
    def update(self, rate):
        for layer in self.layers:
            layer.update(rate)


@sonde.scope("load", kind="data_loader")
def load(size, chance):
    """Points on two spirals, with a little noise."""
    batch = []
    for _ in range(size):
        label = chance.randrange(2)
        turn = chance.uniform(0.3, 3.0)
        angle = 2.0 * turn + math.pi * label
        radius = turn / 3.0
        x = radius * math.cos(angle) + chance.gauss(0.0, 0.02)
        y = radius * math.sin(angle) + chance.gauss(0.0, 0.02)
        batch.append(([x, y, x * x, y * y, x * y], label))
    return batch


def main(words):
    steps = int(words[0]) if words else 60
    size = int(words[1]) if len(words) > 1 else 32
    chance = random.Random(7)
    network = Network([5, 16, 16, 1], chance)
    speed = sonde.benchmark()
    losses = []
    speed.begin()
    for number in range(steps):
        sonde.step()
        with speed.read():
            batch = load(size, chance)
        kept = network.forward(batch)
        losses.append(network.backward(batch, kept))
        network.update(0.5)
        sonde.counter("loss").set(losses[-1])
        speed.step(size)
        if number % 20 == 19:
            print("step %d: loss %.4f" % (number + 1, losses[-1]))
    sonde.last_step()
    first, last = (sum(part) / len(part) for part in (losses[:5], losses[-5:]))
    print("loss fell from %.4f to %.4f" % (first, last) if last < first else "loss did not fall")
    # Times differ from run to run; what else is printed does not.
    speed.end(sys.stderr)
    return 0 if last < first else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
