/// The way from this machine to other networks.
package struct NetworkState: Sendable, Hashable {
    /// The kind of the link that leads to other networks.
    package enum Kind: String, Sendable, Hashable {
        case none, wired, wireless, mobile, tunnel
        /// The kernel can't be asked.
        case unknown
    }

    /// The link's kind.
    package var kind: Kind
    /// The link's name; nil without one.
    package var link: String?
    /// The links, routers and addresses by which other networks are reached: two states that differ
    /// only here belong to two networks.
    package var ways: Set<DefaultRoute> = []
    /// The addresses of the links of ``ways``.
    package var addresses: Set<NetworkAddress> = []

    /// Creates a state.
    package init(_ kind: Kind, link: String? = nil) { (self.kind, self.link) = (kind, link) }

    /// Whether other networks can be reached, as far as the kernel knows.
    package var isOnline: Bool { kind != .none }
}

/// The links, addresses and default routes of this machine.
struct NetworkTable {
    private var links: [Int32: NetworkLink] = [:]
    private var addresses: Set<NetworkAddress> = []
    private var routes: Set<DefaultRoute> = []

    /// Notes what a message tells.
    ///
    /// - Returns: Whether the kernel may have made routes of which it told nothing, so that all
    ///   must be asked for again.
    mutating func note(_ message: NetlinkMessage) -> Bool {
        switch message {
        case .link(let link): return note(link)
        case .linkRemoved(let index):
            links[index] = nil
            addresses = addresses.filter { $0.link != index }
            routes = routes.filter { $0.link != index }
        case .address(let address, let isRemoved):
            // The same address may come again with other flags.
            addresses = addresses.filter {
                $0.family != address.family || $0.link != address.link
                    || $0.bytes != address.bytes
            }
            if !isRemoved { addresses.insert(address) }
        case .routes(let ways, .removed): routes.subtract(ways)
        case .routes(let ways, let change):
            if change == .replaced, let first = ways.first {
                routes = routes.filter {
                    $0.family != first.family || $0.table != first.table
                        || $0.metric != first.metric
                }
            }
            routes.formUnion(ways)
        case .done, .refused, .lost: break
        }
        return false
    }

    private mutating func note(_ new: NetworkLink) -> Bool {
        var link = new
        let old = links[new.index].flatMap { $0.name == new.name ? $0 : nil }
        // An event of a wireless driver has only a part of what is known.
        link.kind = new.kind ?? old?.kind
        link.isWireless = new.isWireless || old?.isWireless == true
        link.deviceType = new.deviceType ?? old?.deviceType
        links[new.index] = link
        // The kernel drops the routes of a link that is switched off without a message.
        if !link.isUp { routes = routes.filter { $0.link != link.index } }
        return old?.isUp == false && link.isUp
    }

    /// The state: of the usable default routes, the one with the lowest metric decides.
    var state: NetworkState {
        let families = Set(
            addresses.filter { $0.isGlobal && links[$0.link]?.isUp == true }.map(\.family))
        let usable = routes.filter { route in
            guard let link = links[route.link] else { return false }
            return link.isRunning && !link.isLoopback && families.contains(route.family)
        }
        // The main table (254) comes first: others are for some packets alone.
        let best = usable.min {
            ($0.table != 254 ? 1 : 0, $0.metric, $0.family, $0.link)
                < ($1.table != 254 ? 1 : 0, $1.metric, $1.family, $1.link)
        }
        guard let best, let link = links[best.link] else { return NetworkState(.none) }
        var state = NetworkState(link.networkKind, link: link.name)
        state.ways = usable
        let used = Set(usable.map(\.link))
        // Of IPv6, hosts change their addresses each day.
        state.addresses = addresses.filter { $0.family == 2 && used.contains($0.link) }
        return state
    }
}
