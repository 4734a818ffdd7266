internal import SignetPinning

/// Pins in the order in which they were added, without duplicates.
struct DistinctPins {
    private(set) var pins: [Pin] = []
    private var known: Set<Pin> = []

    /// Adds a pin unless it is a duplicate.
    mutating func add(_ pin: Pin) {
        if known.insert(pin).inserted { pins.append(pin) }
    }
}
