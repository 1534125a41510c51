# frozen_string_literal: true

require "test_helper"
require_relative "../support/versions"

# Files of `public` are replaced under load, as `mv new file` does it. Each response is one whole version, and clients
# that ask whether their version is current get the last version soon.
class PublicReplacementTest < Support::TestCase
  # At least so many replacements, and seconds of them: the server keeps what it knows of a file for a second.
  REPLACEMENTS = Support::Length.of(1000, 50_000)
  SECONDS = 2.5
  # Versions that follow one another at once.
  BURST = 3
  # Seconds for which a version may be sent after its replacement: one, and one more for a busy machine.
  STALE = 2.0
  # The core keeps a file of up to 16 KiB in memory.
  SIZES = { "/small.txt" => 400, "/kept.txt" => 16_384, "/sent.txt" => 16_392, "/large.txt" => 65_536 }.freeze

  # A client that gets the files in turn. asks: the client sends the ETag that it has as If-None-Match.
  class Reader
    attr_reader :responses

    def initialize(client, versions, asks:)
      @client = client
      @versions = versions
      @asks = asks
      @has = {}
      @responses = Hash.new(0)
    end

    def ask(target)
      @target = target
      @asked = Versions.now
      tag = @has.dig(target, :tag) if @asks
      @client.request("GET", target, tag ? { "If-None-Match" => tag } : {})
    end

    def read
      response = @client.read_response
      @responses[response.status] += 1
      note(response)
      check_age
    end

    def close = @client.close

    # Whether the last response for each file was its last version.
    def up_to_date?
      @versions.all? { |target, versions| @has.dig(target, :number) == versions.last }
    end

    private

    def note(response)
      return if response.status == 304

      number = @versions[@target].number(response.body)
      raise "#{@target}: no whole version: #{response.inspect[0, 1000]}" unless response.status == 200 && number

      @has[@target] = { tag: response["ETag"], number: number }
    end

    def check_age
      number = @has[@target][:number]
      age = @versions[@target].age(number, @asked)
      raise "#{@target}: version #{number} is sent #{age} s after its replacement" if age > STALE
    end
  end

  def setup
    @versions = SIZES.to_h { |target, size| [target, Versions.new(temp_file("public#{target}"), size)] }
    @server = start_bontebok(args: ["-w", "1", "-t", "2", "--public", "public"], rackup: <<~RUBY)
      run ->(_) { [404, {}, ["the application"]] }
    RUBY
  end

  def test_each_response_is_a_whole_version_and_soon_the_last_one
    @readers = [true, true, true, false].map { |asks| Reader.new(@server.connect, @versions, asks: asks) }
    replace_all
    read_all until @readers.all?(&:up_to_date?)
    counts = @readers.map(&:responses)
    assert_operator counts.sum { |each| each[304] }, :>, SIZES.size
    assert_operator counts.sum { |each| each[200] }, :>, 3 * SIZES.size * counts.size
  ensure
    @readers.each(&:close)
  end

  private

  # The requests are on their way while the file is replaced.
  def replace_all
    deadline = Support::Deadline.for(SECONDS)
    count = 0
    until count >= REPLACEMENTS && deadline.passed?
      read_all { |target| BURST.times { @versions[target].replace } }
      count += BURST
    end
  end

  def read_all
    @targets ||= SIZES.keys.cycle
    target = @targets.next
    @readers.each { |reader| reader.ask(target) }
    yield target if block_given?
    @readers.each(&:read)
  end
end
