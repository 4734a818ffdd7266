import SignetSystem

/// The kind of network by which this machine reaches others.
///
/// New kinds may be added.
public struct NetworkType: Sendable, Hashable, CustomStringConvertible {
    /// The name in lower case.
    public let name: String

    /// None: the machine has no route to other networks.
    public static let none = NetworkType(name: "none")
    /// A cable, or a virtual link such as a container's.
    public static let wired = NetworkType(name: "wired")
    /// A wireless LAN.
    public static let wireless = NetworkType(name: "wireless")
    /// A modem.
    public static let mobile = NetworkType(name: "mobile")
    /// A link within another one, such as a VPN. One that keeps the default route of the link below
    /// shows as that link: wg-quick (rules of a routing policy) and OpenVPN's `redirect-gateway
    /// def1` (two routes for half of all addresses) do.
    public static let tunnel = NetworkType(name: "tunnel")
    /// The kernel can't be asked, such as in a sandbox.
    public static let unknown = NetworkType(name: "unknown")

    /// The name.
    public var description: String { name }
}

/// Whether this machine reaches other networks, and by which kind of link.
///
/// It tells what the kernel knows: links, addresses and default routes. A server may be out of
/// reach although the machine is online, and one on this machine may be reached although it isn't.
public struct ConnectivityState: Sendable, Hashable, CustomStringConvertible {
    /// Whether there is a way to other networks. Also true if it is unknown.
    public let isOnline: Bool
    /// The kind of the link that the default route with the lowest metric leads to.
    public let type: NetworkType
    /// The link's name, such as `eth0`; nil without one.
    public let link: String?
    /// Whether the state is that of the switch `simulation.offline`.
    public let isSimulated: Bool
    /// The links, routers and addresses, which tell two networks of the same type apart.
    private let ways: NetworkState?

    init(_ state: NetworkState) {
        isOnline = state.isOnline
        type =
            switch state.kind {
            case .none: .none
            case .wired: .wired
            case .wireless: .wireless
            case .mobile: .mobile
            case .tunnel: .tunnel
            case .unknown: .unknown
            }
        link = state.link
        isSimulated = false
        ways = state
    }

    private init() { (isOnline, type, link, isSimulated, ways) = (false, .none, nil, true, nil) }

    /// The state while `simulation.offline` is set.
    static let simulatedOffline = ConnectivityState()

    /// Whether other networks are reached again, or by another link than in an earlier state. What
    /// the kernel doesn't tell isn't another link.
    package func isNewWay(after earlier: ConnectivityState) -> Bool {
        guard isOnline, earlier.isOnline else { return isOnline }
        return type != .unknown && earlier.type != .unknown
            && (type, link) != (earlier.type, earlier.link)
    }

    /// The type, the link, and whether it is simulated: `wireless (wlan0)`.
    public var description: String {
        "\(type)\(link.map { " (\($0))" } ?? "")\(isSimulated ? " (simulated)" : "")"
    }
}
