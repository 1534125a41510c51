# frozen_string_literal: true

require "optparse"
require_relative "areas"
require_relative "changes"
require_relative "groups"

module Runner
  # The options of bin/test's command line.
  class Options
    # The groups to run. Group#choose has set the jobs of each group.
    attr_reader :groups

    def initialize(arguments)
      names = parse(arguments.dup)
      @named = names.any?
      unknown = names.find { |name| !Groups.named(name) }
      raise ArgumentError, "no such group: #{unknown}; bin/test --list shows them" if unknown

      @groups = chosen(names)
    end

    def list? = @list
    def full? = @full

    # True if groups run again that have passed with the same inputs.
    def again? = @full || @all || @named

    private

    # Returns the arguments that are not options.
    def parse(arguments)
      OptionParser.new do |parser|
        parser.banner = "bin/test [--all] [--full] [--changed[=REVISION]] [--list] [GROUP...]"
        parser.on("--list") { @list = true }
        parser.on("--all") { @all = true }
        parser.on("--full") { @full = true }
        parser.on("--changed[=REVISION]") do |revision|
          @changed = true
          @revision = revision
        end
      end.permute!(arguments)
    end

    # Returns the groups to run, in the order of Groups::ALL. Their jobs are set.
    def chosen(names)
      selection = names.to_h { |name| [name, nil] }
      selection = changed.merge(selection) if @changed
      return (@full ? Groups.all : Groups.default).each { |group| group.choose(@full) } if names.empty? && !@changed

      Groups.all.select { |group| selection.key?(group.name) }
            .each { |group| group.choose(@full, selection[group.name]) }
    end

    def changed
      Areas.selection(Changes.paths(@revision), Groups.default.map(&:name))
    end
  end
end
