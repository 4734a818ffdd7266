import SignetBase
package import SignetJSON

/// An object that is built from dotted names: each dot starts a nested object.
package struct NestedMembers {
    private enum Member {
        case value(JSONValue)
        case branch(NestedMembers)
    }

    private var members: [ByteName: Member] = [:]
    private var order: [ByteName] = []

    /// Creates an empty object.
    package init() {}

    /// Inserts a value by its dotted name.
    ///
    /// - Returns: False if the name was inserted before, or if one name is a value where another
    ///   needs an object.
    package mutating func insert(_ value: JSONValue, named name: String) -> Bool {
        let path = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        return insert(value, at: path[...])
    }

    /// Inserts a value at a path, as `insert(_:named:)` does.
    mutating func insert(_ value: JSONValue, at path: ArraySlice<String>) -> Bool {
        guard let first = path.first.map(ByteName.init) else { return false }
        if path.count == 1 {
            guard members[first] == nil else { return false }
            members[first] = .value(value)
            order.append(first)
            return true
        }
        var branch = NestedMembers()
        switch members[first] {
        case .value?: return false
        case .branch(let found)?: branch = found
        case nil: order.append(first)
        }
        members[first] = nil
        let isInserted = branch.insert(value, at: path.dropFirst())
        members[first] = .branch(branch)
        return isInserted
    }

    /// The object.
    package var object: JSONObject {
        JSONObject(
            order.map { name in
                switch members[name] {
                case .value(let value)?: (name.text, value)
                case .branch(let branch)?: (name.text, .object(branch.object))
                case nil: (name.text, .null)
                }
            })
    }
}
