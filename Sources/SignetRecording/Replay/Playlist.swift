import SignetBase
import Synchronization

/// The recorded exchanges of a replay, each of which is played once, in the order of the recording.
final class Playlist: Sendable {
    /// An exchange with its view.
    struct Track: Sendable {
        let number: Int
        let exchange: RecordedExchange
        let view: RequestView
    }

    /// The outcome of a search.
    enum Choice {
        case track(Track)
        /// All recordings of the request were played; the number says how many there are.
        case used(Int)
        /// The nearest track with its differences; nil in an empty recording.
        case none(nearest: (Track, [Difference])?)
    }

    private struct State {
        var tracks: [Track] = []
        /// The numbers of tracks that equal requests share, in their order.
        var byKey: [[UInt8]: [Int]] = [:]
        var nextOfKey: [[UInt8]: Int] = [:]
        var played: Set<Int> = []
    }

    /// Whether the last recording of a request is played again.
    private let repeats: Bool
    private let state = Mutex(State())

    init(
        _ exchanges: [RecordedExchange], repeats: Bool,
        viewing view: (RecordedExchange) -> RequestView
    ) {
        self.repeats = repeats
        for exchange in exchanges { add(exchange, view(exchange)) }
    }

    private func add(_ exchange: RecordedExchange, _ view: RequestView) {
        let key = view.key
        state.withLock { state in
            let number = state.tracks.count
            state.tracks.append(Track(number: number, exchange: exchange, view: view))
            state.byKey[key, default: []].append(number)
        }
    }

    /// Chooses the recording of a request.
    func choose(_ view: RequestView) -> Choice {
        let key = view.key
        let (choice, tracks) = state.withLock { state -> (Choice?, [Track]) in
            if let numbers = state.byKey[key] {
                return (Self.next(of: key, numbers, repeats: repeats, in: &state), [])
            }
            return (nil, state.tracks)
        }
        if let choice { return choice }
        // A mark in a recording equals any value, also one that isn't recognised as a secret.
        var nearest: (track: Track, differences: [Difference])?
        var equal: [UInt8]?
        for track in tracks {
            let differences = track.view.differences(to: view)
            if differences.isEmpty {
                equal = track.view.key
                break
            }
            if nearest.map({ Self.weight(differences) < Self.weight($0.differences) }) ?? true {
                nearest = (track, differences)
            }
        }
        guard let equal else { return .none(nearest: nearest.map { ($0.track, $0.differences) }) }
        return state.withLock { state in
            Self.next(of: equal, state.byKey[equal] ?? [], repeats: repeats, in: &state)
        }
    }

    private static func next(
        of key: [UInt8], _ numbers: [Int], repeats: Bool, in state: inout State
    ) -> Choice {
        let position = state.nextOfKey[key, default: 0]
        guard position < numbers.count || repeats, let last = numbers.last else {
            return .used(numbers.count)
        }
        let number = position < numbers.count ? numbers[position] : last
        state.nextOfKey[key] = position + 1
        state.played.insert(number)
        return .track(state.tracks[number])
    }

    /// The exchanges that no request has asked for.
    var unplayed: [RecordedExchange] {
        state.withLock { state in
            state.tracks.filter { !state.played.contains($0.number) }.map(\.exchange)
        }
    }

    /// A request with another method, host or path is farther away than one with another value.
    private static func weight(_ differences: [Difference]) -> Int {
        differences.reduce(0) { sum, difference in
            switch difference.place {
            case "request.host": sum + 1000
            case "request.path": sum + 100
            case "request.method": sum + 50
            default: sum + 1
            }
        }
    }
}
