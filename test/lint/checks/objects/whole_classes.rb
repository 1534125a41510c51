# frozen_string_literal: true

require_relative "exceptions"
require_relative "ruby_tree"

module Lint
  # Reports each class or module of lib/ that is in more than one file: two files have code of it, or a part of it is a
  # module. Such a module is in one class only, and uses what the class has. The gem's own module is around all others.
  class WholeClasses
    LISTED = {}.freeze

    def initialize(root, listed: LISTED)
      @tree = RubyTree.new(root)
      @listed = listed
    end

    def faults
      shared + Exceptions.faults(parts, @listed)
    end

    private

    def shared
      @tree.modules.values.select { |one| one.files.size > 1 && one.name.include?("::") }
           .map { |one| "#{one.files.last}: #{one.name} is also in #{one.files.first}" }
    end

    def parts
      users = @tree.modules.keys.flat_map { |full| @tree.parents(full).map { |parent| [parent, full] } }
                   .group_by(&:first).transform_values { |pairs| pairs.map(&:last) }
      users.select { |name, (whole, *others)| others.empty? && part?(@tree.modules[name], whole) }
           .to_h { |name, (whole)| [name, "#{@tree.modules[name].files.first}: #{name} is a part of #{whole}"] }
    end

    def part?(mixed, whole)
      return false unless mixed&.module?
      return true if mixed.reads.any? || mixed.assigns.any?

      around = [whole, *@tree.ancestors(whole)].filter_map { |full| @tree.modules[full] }
      around.flat_map(&:methods).intersect?(mixed.foreign_calls)
    end
  end
end
