// SPDX-License-Identifier: MIT

package bucketing

import (
	"encoding/binary"
	"math"
	"math/bits"
)

const c1, c2 = 0x87c37b91114253d5, 0x4cf5ad432745937f

func mix(k uint64) uint64 {
	k = (k ^ k>>33) * 0xff51afd7ed558ccd
	k = (k ^ k>>33) * 0xc4ceb9fe1a85ec53
	return k ^ k>>33
}

func mixK1(k uint64) uint64 { return bits.RotateLeft64(k*c1, 31) * c2 }
func mixK2(k uint64) uint64 { return bits.RotateLeft64(k*c2, 33) * c1 }

// Murmur3 is murmur3_128 (x64). Cassandra's variant sign-extends the bytes of the tail.
func Murmur3(data []byte, seed uint64, isCassandra bool) (uint64, uint64) {
	h1, h2, size := seed, seed, uint64(len(data))
	for ; len(data) >= 16; data = data[16:] {
		h1 = (bits.RotateLeft64(h1^mixK1(binary.LittleEndian.Uint64(data)), 27)+h2)*5 + 0x52dce729
		h2 = (bits.RotateLeft64(h2^mixK2(binary.LittleEndian.Uint64(data[8:])), 31)+h1)*5 + 0x38495ab5
	}
	var k [2]uint64
	for i, one := range data {
		value := uint64(one)
		if isCassandra {
			value = uint64(int64(int8(one)))
		}
		k[i/8] ^= value << (8 * (i % 8))
	}
	if len(data) > 8 {
		h2 ^= mixK2(k[1])
	}
	if len(data) > 0 {
		h1 ^= mixK1(k[0])
	}
	h1, h2 = h1^size, h2^size
	h1 += h2
	h2 += h1
	h1, h2 = mix(h1), mix(h2)
	h1 += h2
	return h1, h2 + h1
}

// ConsistentHash is Guava's Hashing.consistentHash(), with its overflow; -1 for no buckets.
func ConsistentHash(state uint64, buckets uint32) int32 {
	if buckets == 0 || buckets > math.MaxInt32 {
		return -1
	}
	for next := int32(1); ; {
		state = state*2862933555777941757 + 1
		draw := uint32(state>>33) + 1
		if draw > math.MaxInt32 {
			return next - 1
		}
		quotient := float64(next) / (float64(draw) / (1 << 31))
		if quotient >= float64(buckets) {
			return next - 1
		}
		next = int32(quotient) + 1
	}
}

// BucketOfID is the consistent hash of murmur3 of the id's eight bytes.
func BucketOfID(id uint64, buckets uint32) int32 {
	h1, _ := Murmur3(binary.LittleEndian.AppendUint64(nil, id), 0, false)
	return ConsistentHash(h1, buckets)
}

// IDKind is the kind of a row's id.
type IDKind int

// The kinds of ids, in the bytes that Cassandra stores.
const (
	TimeUUID IDKind = iota
	UUID4
	UUID7
	ULID
	Snowflake
	AnyBytes
)

// IDBits returns 64 random bits of an id, for Row.ID.
func IDBits(kind IDKind, id []byte) (uint64, error) {
	sizes, versions := [...]int{16, 16, 16, 16, 8, 0}, [...]byte{1, 4, 7, 0, 0, 0}
	if kind < 0 || kind > AnyBytes || len(id) == 0 || (sizes[kind] > 0 && len(id) != sizes[kind]) {
		return 0, ErrID
	}
	if version := versions[kind]; version > 0 && (id[6]>>4 != version || id[8]&0xc0 != 0x80) {
		return 0, ErrID
	}
	if kind == UUID4 {
		return binary.BigEndian.Uint64(id[8:])<<2 | uint64(id[7]&3), nil
	}
	h1, _ := Murmur3(id, 0, false)
	return h1, nil
}
