# frozen_string_literal: true

require "optparse"
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
      names += Changes.groups(@revision, Groups.default.map(&:name)) if @changed
      unknown = names.find { |name| !Groups.named(name) }
      raise ArgumentError, "no such group: #{unknown}; bin/test --list shows them" if unknown

      @groups = chosen(names).each { |group| group.choose(@full) }
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

    # Returns the groups to run, in the order of Groups::ALL.
    def chosen(names)
      return Groups.all.select { |group| names.include?(group.name) } if names.any? || @changed

      @full ? Groups.all : Groups.default
    end
  end
end
