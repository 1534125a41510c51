# frozen_string_literal: true

require_relative "contestants"
require_relative "fields"
require_relative "load"
require_relative "process_group"

module Bench
  # The contestants (the measured servers). Each contestant is started on its own address, warmed up, and frozen
  # (SIGSTOP) until it is measured.
  class Servers
    CORE = 1
    FLOOR = Contestants::FLOOR
    OURS = "bontebok"
    # The tables show this peer's CPU time as a multiple of ours.
    PEER = "unicorn"

    # The names that begin with one of `only` (nil: all names), and the name of the floor. logging: adds the contestants
    # that write an access log.
    def self.names(only = nil, logging: false)
      names = [*Contestants.all("", :close), *(Contestants.logging("") if logging)].map(&:name)
      names.select { |name| only.nil? || name == FLOOR || only.any? { |each| name.start_with?(each) } }
    end

    # dir: for sockets and logs. transport: "unix" or "tcp"; mode: :close or :kept.
    def self.start(names, dir, transport, mode)
      groups = names.each_with_index.to_h do |name, number|
        address = Load.address(transport, dir, "#{mode}#{number}")
        contestant = [*Contestants.all(address, mode), *Contestants.logging(address)].find { |each| each.name == name }
        [name, boot(contestant, address, File.join(dir, "#{mode}#{number}.log"))]
      end
      yield new(groups.compact)
    ensure
      groups&.each_value { |(group, _address)| group&.finish }
    end

    def self.boot(contestant, address, log)
      group = ProcessGroup.new(contestant.command, env: contestant.env, address: address, core: CORE, log: log)
      unless group.ready?
        group.finish
        warn "#{contestant.name} does not start on #{address}: #{File.read(log).lines.last(3).join}"
        return nil
      end
      Load.run(address, "-c", 4, "-n", 3000, fields: Fields::SMALL)
      group.pause
      [group, address]
    end
    private_class_method :boot, :new

    def initialize(groups)
      @groups = groups
    end

    # Yields name, process group and address of each contestant. A contestant runs only during its block call.
    def each
      @groups.each do |name, (group, address)|
        group.resume
        yield name, group, address
        group.pause
      end
    end
  end
end
