# frozen_string_literal: true

module Lint
  # A class or module of lib/, as its files define it. Modules that are only in it are not part of it.
  class RubyModule
    WRITERS = %i[attr_writer attr_accessor].freeze
    READERS = %i[attr_reader attr_accessor].freeze

    # files    those with code of the module. A file that only puts other modules into it has none.
    # parents  [[path, scopes]] of the superclass and of included modules
    attr_reader :name, :files, :parents

    def initialize(name)
      @name = name
      @files = []
      @bodies = []
      @parents = []
    end

    # Takes a definition.
    def add(file, node)
      @module = node.module_type?
      return if only_names?(node.body)

      @files |= [file]
      @bodies << node
    end

    def module? = @module

    # Lines with those of comments, and without those of classes and modules in it.
    def lines
      @bodies.sum { |body| body.line_count - inner(body).sum(&:line_count) }
    end

    # Instance variables that methods of the module read.
    def reads = nodes(:ivar).map { |node| node.children.first }.uniq

    # Instance variables that methods of the module assign.
    def assigns = nodes(:ivasgn).map { |node| node.children.first } | attributes(WRITERS).map { |name| :"@#{name}" }

    # Names of the methods that the module has, without those that only assign.
    def methods = nodes(:def).map(&:method_name) + attributes(READERS)

    # Names of the methods that the module calls on the object that it is in.
    def foreign_calls
      nodes(:send).select { |node| node.receiver.nil? || node.receiver.self_type? }.map(&:method_name).uniq - methods
    end

    private

    def attributes(kinds)
      nodes(:send).select { |node| kinds.include?(node.method_name) }
                  .flat_map(&:arguments).select(&:sym_type?).map(&:value)
    end

    # A module around others.
    def only_names?(body)
      body.nil? || (body.begin_type? ? body.children : [body]).all? { |node| %i[module class].include?(node.type) }
    end

    def nodes(type)
      (@nodes ||= @bodies.flat_map { |body| own(body.body) }.group_by(&:type)).fetch(type, [])
    end

    def own(node)
      return [] if %i[module class].include?(node.type)

      [node, *node.each_child_node.flat_map { |child| own(child) }]
    end

    # The outermost classes and modules in a body.
    def inner(node)
      node.each_child_node.flat_map { |child| %i[module class].include?(child.type) ? [child] : inner(child) }
    end
  end
end
