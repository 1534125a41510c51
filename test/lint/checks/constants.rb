# frozen_string_literal: true

require "rubocop-ast"
require_relative "files"

module Lint
  # Checks that Ruby finds each constant of lib/ where lib/ names it: in the modules around, in what the innermost of
  # them inherits or includes, or at the top. Ruby raises NameError only when the line runs. Checks also that each
  # class or module has one file: two with one name would be one object, with the methods of both. The gem's own module
  # is around all others.
  class Constants
    # The oldest supported version.
    RUBY = 3.1

    def initialize(root)
      @root = root
      @defined = [] # full names
      @parents = Hash.new { |hash, scope| hash[scope] = [] } # { full name => superclass and included modules }
      @uses = []
      @files = Hash.new { |hash, full| hash[full] = [] } # { full name => files that define it, not only what is in it }
    end

    def faults
      Files.glob(@root, "lib/**/*.rb").each do |file|
        tree = RuboCop::AST::ProcessedSource.new(File.read(File.join(@root, file)), RUBY).ast
        walk(tree, [], file) if tree
      end
      @own = @defined.map { |full| full[/\w+\z/] }.uniq
      unseen + shared
    end

    private

    def unseen
      @uses.uniq.reject { |name, scopes, _| found?(name, scopes) }
           .map { |name, scopes, file| "#{file}: #{scopes.first || 'the top'} does not see #{name}" }
    end

    def shared
      @files.select { |full, files| full.include?("::") && files.uniq.size > 1 }
            .map { |full, files| "#{files.last}: #{full} is also in #{files.first}" }
    end

    # scopes: the full names of the modules around the node, innermost first.
    def walk(node, scopes, file)
      return enter(node, scopes, file) if %i[module class].include?(node.type)

      case node.type
      when :casgn then define(node.short_name, scopes)
      when :const then @uses << [node.short_name.to_s, scopes, file] if node.namespace.nil?
      when :send then note_included(node, scopes)
      end
      node.each_child_node { |child| walk(child, scopes, file) }
    end

    def enter(node, scopes, file)
      full = define(node.identifier.source, scopes)
      @files[full] << file unless only_names?(node.body)
      note_parent(full, node.parent_class, scopes, file) if node.class_type? && node.parent_class
      walk(node.body, [full, *scopes], file) if node.body
    end

    # True for the body of a module around others.
    def only_names?(body)
      body.nil? || (body.begin_type? ? body.children : [body]).all? { |node| %i[module class].include?(node.type) }
    end

    # Returns the full name.
    def define(name, scopes)
      [scopes.first, name].compact.join("::").tap { |full| @defined << full }
    end

    def note_parent(full, parent, scopes, file)
      walk(parent, scopes, file)
      @parents[full] << [parent.source, scopes]
    end

    def note_included(node, scopes)
      return unless node.method?(:include) && node.receiver.nil?

      node.arguments.each { |included| @parents[scopes.first] << [included.source, scopes] }
    end

    # Names that only Ruby and gems define are found. A name that the top has is found everywhere.
    def found?(name, scopes)
      return true if !@own.include?(name) || Object.const_defined?(name)

      visible(name, scopes).any? || inherited?(name, scopes.first)
    end

    # The full names of the constants that Ruby can mean by the name.
    def visible(name, scopes)
      [*scopes.map { |scope| "#{scope}::#{name}" }, name] & @defined
    end

    def inherited?(name, scope)
      @parents[scope].any? do |parent, scopes|
        visible(parent, scopes).any? { |full| @defined.include?("#{full}::#{name}") || inherited?(name, full) }
      end
    end
  end
end
