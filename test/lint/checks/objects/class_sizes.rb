# frozen_string_literal: true

require_relative "exceptions"
require_relative "ruby_tree"

module Lint
  # Reports each class or module of lib/ that has too many lines, with those of what it includes, extends and inherits.
  # Classes in it do not count.
  class ClassSizes
    LINES = 250
    LISTED = {
      "Bontebok::Succession" => "the rules of all transitions between generations, which are read together",
      "Bontebok::ConfigStyles::Pitchfork" => "a file for pitchfork may also have each directive of unicorn",
      "Bontebok::ConfigStyles::Puma" => "a table of puma's directives, with the words of Directives that define them",
      "Bontebok::SharedUnixListener" => "a UnixListener with the rules for a path that several servers bind",
      "Bontebok::UnixListener" => "a Listener, and each step from a stale path to a socket with its owner"
    }.freeze

    def initialize(root, listed: LISTED)
      @tree = RubyTree.new(root)
      @listed = listed
    end

    def faults = Exceptions.faults(long, @listed)

    def print_exceptions = Exceptions.print(long, @listed)

    private

    def long
      @tree.modules.keys.filter_map do |full|
        lines = [full, *@tree.ancestors(full)].sum { |one| @tree.modules[one]&.lines.to_i }
        [full, "#{full} has #{lines} lines with what it includes, more than #{LINES}"] if lines > LINES
      end.to_h
    end
  end
end
