# frozen_string_literal: true

require "rubocop-ast"
require_relative "../files"
require_relative "ruby_module"

module Lint
  # What the Ruby files of lib/ define, and what they name. Finds the constant that a name means as Ruby does: in the
  # modules around the name, in what the innermost of them inherits or includes, or at the top.
  class RubyTree
    # The oldest supported version.
    RUBY = 3.1
    MIXING = %i[include extend prepend].freeze
    # Calls that make a class: LINE = Struct.new(:text).
    MAKERS = /\A(Struct|Class|Module|Data)\.(new|define)\b/

    # A constant that a file names. path: as it is written. scopes: the full names of the modules around, innermost
    # first.
    Use = Struct.new(:path, :scopes, :file)

    PARSED = {} # rubocop:disable Style/MutableConstant -- { text => tree }, because several checks read the same files
    private_constant :PARSED

    # defined  { full name => files }, without files that only put other modules into a module
    # modules  { full name => RubyModule }
    # made     full names of the classes and modules, also of those that a call makes, without private ones
    # calls    [[file, node]] of all calls
    attr_reader :defined, :modules, :made, :uses, :calls

    def initialize(root)
      @files = Files.glob(root, "lib/**/*.rb")
      @defined = Hash.new { |hash, full| hash[full] = [] }
      @modules = Hash.new { |hash, full| hash[full] = RubyModule.new(full) }
      @made = []
      @uses = []
      @calls = []
      @parents = {}
      @private = []
      read(root)
      @made -= @private
      [@defined, @modules].each { |hash| hash.default = nil }
    end

    # Returns the full name that the path means, or of the modules around as much as is known; nil: none of lib/.
    def resolve(path, scopes)
      head, *rest = path.delete_prefix("::").split("::")
      full = path.start_with?("::") ? known(head) : find(head, scopes)
      rest.each { |name| full = (full && member(full, name)) || (return full) }
      full
    end

    # Returns { file => files with the constants that it names }.
    def dependencies
      @dependencies ||= @files.to_h { |file| [file, []] }.merge(
        @uses.group_by(&:file).to_h { |file, uses| [file, uses.flat_map { |use| home(use) }.uniq - [file]] }
      )
    end

    # The full names of what the module includes, extends and inherits, directly or not. A name is there once.
    def ancestors(full, seen = [])
      parents(full).each { |parent| ancestors(parent, seen << parent) unless seen.include?(parent) }
      seen
    end

    # The same, directly.
    def parents(full)
      return [] unless @modules.key?(full)
      return @parents[full] if @parents.key?(full)

      @parents[full] = [] # a parent is not looked for in parents
      @parents[full] = @modules[full].parents.filter_map { |path, scopes| resolve(path, scopes) }.uniq - [full]
    end

    private

    def read(root)
      @files.each do |file|
        text = File.read(File.join(root, file), encoding: "UTF-8")
        tree = PARSED[text] ||= RuboCop::AST::ProcessedSource.new(text, RUBY).ast
        walk(tree, [], file) if tree
      end
    end

    def walk(node, scopes, file)
      case node.type
      when :module, :class then return enter(node, scopes, file)
      when :casgn then note_constant(node, scopes, file)
      when :const then return if note_use(node, scopes, file)
      when :send, :csend then note_call(node, scopes, file)
      end
      node.each_child_node { |child| walk(child, scopes, file) }
    end

    def enter(node, scopes, file)
      full = [scopes.first, node.identifier.source].compact.join("::")
      @defined[full]
      @made |= [full]
      @modules[full].add(file, node)
      @defined[full] |= @modules[full].files
      note_superclass(full, node.parent_class, scopes, file) if node.class_type? && node.parent_class
      walk(node.body, [full, *scopes], file) if node.body
    end

    def note_superclass(full, node, scopes, file)
      walk(node, scopes, file)
      @modules[full].parents << [node.source, scopes]
    end

    def note_constant(node, scopes, file)
      full = [scopes.first, node.short_name].compact.join("::")
      @defined[full] |= [file]
      @made |= [full] if node.expression&.source&.match?(MAKERS)
    end

    # Returns true if the path has only names.
    def note_use(node, scopes, file)
      names = node.source.match?(/\A[\w:]+\z/)
      @uses << Use.new(node.source, scopes, file) if names
      names
    end

    def note_call(node, scopes, file)
      @calls << [file, node]
      return if node.receiver || scopes.empty?

      case node.method_name
      when *MIXING
        node.arguments.select(&:const_type?).each { |mixed| @modules[scopes.first].parents << [mixed.source, scopes] }
      when :private_constant
        @private.concat(node.arguments.select(&:sym_type?).map { |name| "#{scopes.first}::#{name.value}" })
      end
    end

    # A module that is in several files is around what they define.
    def home(use)
      files = @defined.fetch(resolve(use.path, use.scopes), [])
      files.size == 1 ? files : []
    end

    def find(name, scopes)
      around = scopes.lazy.filter_map { |scope| known("#{scope}::#{name}") }.first
      around || (scopes.any? && from_ancestors(scopes.first, name)) || known(name)
    end

    def member(full, name)
      known("#{full}::#{name}") || from_ancestors(full, name)
    end

    def from_ancestors(full, name)
      ancestors(full).lazy.filter_map { |parent| known("#{parent}::#{name}") }.first
    end

    def known(full)
      full if @defined.key?(full)
    end
  end
end
