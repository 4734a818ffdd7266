internal import SignetPinning

/// Pins in the order in which they came, each once.
struct DistinctPins {
    private(set) var pins: [Pin] = []
    private var known: Set<Pin> = []

    /// Adds a pin unless it is there.
    mutating func add(_ pin: Pin) {
        if known.insert(pin).inserted { pins.append(pin) }
    }
}
