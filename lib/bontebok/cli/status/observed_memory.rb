# frozen_string_literal: true

require "bontebok/bontebok"
require "forwardable"

require_relative "../../sockets/shared/shared_numbers"
require_relative "../../system/proc/memory_files"
require_relative "../../system/proc/process_children"

module Bontebok
  # The memory in which the processes of a server show what they do, opened to read. Any of these processes can write
  # any bytes there.
  class ObservedMemory
    extend Forwardable

    # The names of the files (memfd_create(2)) in /proc.
    FILES = { "scoreboard" => "bontebok-scoreboard", "totals" => "bontebok-metrics" }.freeze
    # The slots that are asked for where the memory is in no file. A file tells its number itself.
    LANES = 1
    private_constant :FILES, :LANES

    # The files that the processes of this server have open, without its answer.
    def self.search(pid)
      found = FILES.transform_values { |name| MemoryFiles.new(name).search_family(pid) }
      ProcessChildren.of(pid).each { |child| found["scoreboard"].search(child) }
      refused = found.values.any?(&:refused?) && found["scoreboard"].files.empty?
      new(found.transform_values(&:files), reason: ("they belong to another user, and root sees them" if refused))
    end

    # The descriptors of the server's answer (see .new), and the scoreboards that only the masters have: a master of
    # another version can have its own. masters: pids.
    def self.of(descriptors, masters, reason: nil)
      known = [*descriptors["scoreboard"]]
      found = MemoryFiles.new(FILES["scoreboard"], known: known)
      masters.each { |pid| found.search(pid) }
      new({ **descriptors, "scoreboard" => known + found.files }, reason: reason)
    end

    # descriptors: { "scoreboard" => [IO, ...], "totals" => [...], "counter" => [...], "queue" => [...] }. They belong
    # to this object from now on. reason: why there are none.
    def initialize(descriptors, reason: nil)
      @descriptors = descriptors
      @reason = reason
      @scoreboards = mapped("scoreboard", Core::Scoreboard)
      @metrics = mapped("totals", Core::Metrics)
      @numbers = SharedNumbers.new(@scoreboards, @metrics, mapped("counter", Core::Scoreboard).first)
    end

    # See SharedNumbers.
    def_delegators :@numbers, :lanes, :counted, :totals, :notes, :draining?

    def empty? = @scoreboards.empty?

    # True if workers may serve that no scoreboard shows.
    def hidden? = empty? || missing?("scoreboard", @scoreboards)

    # True if no totals can be read.
    def uncounted? = @metrics.empty?

    # Differs from that of another server: the files with the totals. Empty: uncounted.
    def source
      uncounted? ? [] : @descriptors["totals"].map { |file| file.stat.then { |stat| [stat.dev, stat.ino] } }.sort
    end

    # A sentence about what cannot be read, or nil.
    def fault
      return "the numbers of this server cannot be read: #{@reason || 'no process shows them'}" if empty?

      lacks = [*("workers" if hidden?), *("totals" if missing?("totals", @metrics))].join(" and ")
      return "the #{lacks} lack those of another version of Bontebok: #{@reason}" unless lacks.empty?

      "the totals of this server cannot be read: no process shows them" if uncounted?
    end

    # See SharedNumbers. nil: with its own scoreboard, a master has its own queue, too.
    def waiting
      @numbers.waiting(@descriptors["queue"]&.first) if @scoreboards.size == 1
    end

    # The memory stays mapped.
    def close
      @descriptors.each_value { |files| files.each(&:close) }
    end

    private

    def missing?(name, read) = read.size < [*@descriptors[name]].size

    def mapped(name, kind)
      [*@descriptors[name]].filter_map { |file| map(kind, file) }
    end

    # Another version of Bontebok can have another layout. A server that was updated keeps the totals of its former
    # version.
    def map(kind, file)
      kind.new(LANES, file.fileno)
    rescue ArgumentError, SystemCallError => e
      @reason ||= e.message.delete_prefix("bontebok: ")
      nil
    end
  end
end
