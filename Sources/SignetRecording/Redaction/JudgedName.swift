import SignetBase
import SignetVault
import Synchronization

/// The name of a member, judged together with the names on the way to it. The names below it are
/// kept, because most names of a message occur in the next one too.
final class JudgedName: Sendable {
    /// Names below one, in the order in which they first occurred.
    struct Names {
        private static let most = 128
        private(set) var all: [JudgedName] = []
        private var byName: [ArraySlice<UInt8>: JudgedName] = [:]

        /// - Parameter index: The place among the members of an object, where the name is mostly.
        func find(_ name: ArraySlice<UInt8>, at index: Int) -> JudgedName? {
            index < all.count && all[index].name == name ? all[index] : byName[name]
        }

        mutating func insert(_ name: JudgedName) -> Bool {
            guard all.count < Self.most, byName[name.name] == nil else { return false }
            byName[name.name] = name
            all.append(name)
            return true
        }
    }

    /// The names on the way and this one, joined by dots.
    let path: [UInt8]
    private let name: ArraySlice<UInt8>
    /// Whether the name is a secret itself.
    let isSecret: Bool
    /// Whether the name says by the rules that its value is a secret, also if it is an object.
    let isOfSecret: Bool
    /// Whether a text, a number or a list of this name is a secret only by its form.
    let isInnocent: Bool
    /// Whether a member of this name may be a secret because of another member.
    let dependsOnOthers: Bool
    private let below = Mutex(Names())

    /// The names that were kept below this one.
    var names: Names { below.withLock { $0 } }

    /// The empty name, which is above all others.
    init() {
        (path, name) = ([], [])
        (isSecret, isOfSecret, isInnocent, dependsOnOthers) = (false, false, true, false)
    }

    /// - Parameter above: The names on the way, joined by dots; empty for none.
    init(_ name: ArraySlice<UInt8>, below above: [UInt8], by judge: SecretJudge) {
        path = above.isEmpty ? Array(name) : above + [ASCII.dot] + name
        self.name = path[(path.count - name.count)...]
        let name = Array(name)
        isSecret = judge.isSecret(name: name)
        isOfSecret = judge.isSecret(member: name)
        isInnocent =
            path.isEmpty
            || !judge.isSecret(member: path)
                && SecretSearch.isInnocent(name: String(decoding: path, as: UTF8.self))
        dependsOnOthers = SecretSearch.isSecretWithOthers(memberName: name)
    }

    /// Keeps a name below this one; returns false if there are many already, as in a map of ids.
    func keep(_ name: JudgedName) -> Bool { below.withLock { $0.insert(name) } }
}
