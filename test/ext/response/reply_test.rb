# frozen_string_literal: true

require_relative "../support/lane_case"

# The status and the fields of a response: which values an application may return, and how wrong values are reported.
class ReplyTest < Support::LaneCase
  class ToS
    def to_s
      "g"
    end
  end

  # Rack 2 allows any object with the method each as headers.
  class Pairs
    def initialize(*pairs, splat: false)
      @pairs = pairs
      @splat = splat
    end

    def each(&block)
      @pairs.each { |pair| @splat ? block.call(*pair) : block.call(pair) }
    end
  end

  # A Hash. Its method each yields values that the Hash does not store.
  class Louder < Hash
    def each
      super { |name, value| yield name, value.upcase }
    end
  end

  def test_a_status_may_be_a_number_or_a_text
    { 200 => 200, "201" => 201, "404 Not Found" => 404, 299.0 => 299, 999 => 999 }.each do |given, sent|
      assert_equal sent, response_to([given, {}, []]).status
    end
  end

  def test_the_status_is_asked_once_for_its_number
    numbers = [200, 101]
    status = Object.new.tap { |object| object.define_singleton_method(:to_i) { numbers.shift } }

    assert_equal 200, response_to([status, {}, []]).status
    assert_equal [101], numbers
  end

  def test_an_invalid_status_is_reported
    [99, 1000, -200, 1 << 40, 1 << 80, nil, "", "x", :ok, Object.new, [200]].each do |given|
      assert_fault(/status/, [given, {}, []])
    end
  end

  def test_a_field_value_may_be_any_object_or_an_array
    fields = { "x-string" => "a", "x-array" => %w[b c], "x-lines" => "d\ne", "x-number" => 7, "x-nil" => nil,
               "x-symbol" => :f, "x-object" => ToS.new, "x-none" => [], "x-mixed" => [1, :two], :"x-name" => "h" }
    response = response_to([200, fields, []])

    assert_equal([%w[a], %w[b c], %w[d e], %w[7], [""], %w[f], %w[g], [], %w[1 two], %w[h]],
                 fields.keys.map { |name| response.all(name.to_s) })
  end

  def test_each_line_of_a_value_becomes_a_field
    fields = { "set-cookie" => "a=1\nb=2", "x" => "\n\nc\n\nd\n", "y" => "\n", "te" => "a\nb",
               "z" => "e\nContent-Length: 0\n\nGET / HTTP/1.1", "Content-Length" => "2\n2" }
    response = response_to([200, fields, ["ok"]])

    assert_equal([%w[a=1 b=2], %w[c d], [], [], ["e", "Content-Length: 0", "GET / HTTP/1.1"], %w[2]],
                 fields.keys.map { |name| response.all(name) })
  end

  def test_headers_may_be_any_object_with_each
    pairs = [%w[x-a 1], %w[x-a 2]]
    [pairs, Pairs.new(*pairs), Pairs.new(*pairs, splat: true)].each do |headers|
      assert_equal %w[1 2], response_to([200, headers, []]).all("x-a")
    end
    assert_equal %w[LOUD], response_to([200, Louder["x-a", "loud"], []]).all("x-a")
  end

  def test_invalid_headers_are_reported
    pairs = [Pairs.new([]), Pairs.new(%w[a b c]), Pairs.new("x: y"), Pairs.new(nil)]
    [nil, 1, "x: y", Object.new, *pairs].each { |headers| assert_fault(/headers/, [200, headers, []]) }
  end

  def test_an_invalid_name_is_reported
    ["x y", "x:y", "", "x\r\ny", "x\0", "\u00e4", "a".encode("UTF-16LE")].each do |name|
      assert_fault(/field #{Regexp.escape(name.inspect)}/, [200, { "x-ok" => "1", name => "v" }, ["body"]])
    end
  end

  def test_the_report_of_an_invalid_value_has_only_the_name_of_the_field
    ["secret\r\nx: y", "secret\0", "secret\x7f", ["ok", "secret\r"], "ok\nsecret\rx", "ok\n\0"].each do |value|
      report = assert_fault(/field "x-bad"/, [200, { "x-bad" => value }, ["body"]])

      refute_match(/secret/, report.error.message)
    end
  end

  def test_an_invalid_content_length_is_reported
    ["-1", "1x", "x", "9" * 30, "4\n5"].each do |value|
      assert_fault(/content-length/i, [200, { "content-length" => value }, ["body"]])
    end
  end

  def test_a_result_that_is_no_triplet_is_reported
    [nil, 200, [], [200, {}], [200, {}, [], 1], "200", { status: 200 }].each { |value| assert_fault(/Array/, value) }
  end

  def test_an_object_that_becomes_an_array_is_accepted
    returned = Object.new.tap { |object| object.define_singleton_method(:to_ary) { [200, {}, ["ok"]] } }

    assert_equal "ok", response_to(returned).body
  end

  def test_rack_fields_are_not_sent
    fields = { "rack.protocol" => "x", "Rack.Logger" => "a\nb", "rack." => 1, "rack" => "2", "rackety" => "3" }

    assert_equal %w[rack rackety], response_to([200, fields, []]).fields.map(&:first).grep(/rack/i)
  end

  def test_a_field_value_may_change_the_headers_while_the_server_reads_them
    headers = { "x-a" => "1" }
    headers["x-b"] = Object.new.tap { |o| o.define_singleton_method(:to_s) { headers.delete("x-c") && "2" } }
    headers["x-c"] = "3"

    response = response_to([200, headers, []])

    assert_equal([%w[1], %w[2], []], %w[x-a x-b x-c].map { |name| response.all(name) })
  end

  def test_a_body_may_change_the_triplet_while_the_server_reads_it
    triplet = [200, { "x-a" => "1" }, body = Object.new]
    body.define_singleton_method(:respond_to_missing?) { |*| triplet.replace([500, {}, []]) && false }
    body.define_singleton_method(:each) { |&block| block.call("whole") }
    response = response_to(triplet)

    assert_equal [200, "1", "whole"], [response.status, response["x-a"], response.body]
  end

  private

  def response_to(returned)
    serve { returned }.get
  end

  # Asserts that the response is a 500 without details, and that the fault is reported.
  def assert_fault(pattern, returned)
    server = serve { returned }
    response = server.get("/faulty?secret")
    report = server.next_report

    assert_equal [500, "500 Internal Server Error\n"], [response.status, response.body], returned.inspect
    assert_equal [:error, Bontebok::Core::InvalidReply], [report.level, report.error.class]
    assert_equal "GET /faulty", report.message
    assert_match(pattern, report.error.message)
    assert_equal 500, server.get.status, "the lane goes on"
    server.next_report
  end
end
