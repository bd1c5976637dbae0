/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Made by make_half_line.py: nodes s and weights s (1 + exp(-v)) of the double exponential rule for a
 * half-line, s = exp(v - exp(-v)) at v = -29/8, -28/8, ... 48/8. */
#ifndef LAB_HALF_LINE_H
#define LAB_HALF_LINE_H

#define HALF_LINE_STEP   0x1.0000000000000p-3
#define HALF_LINE_MIDDLE 29 /* index of v = 0 */
#define HALF_LINE_NODES  78

static const struct {
    double s, weight;
} half_line[HALF_LINE_NODES] = {
    {0x1.8d2375927d072p-60, 0x1.de1d35c7d8bcep-55}, {0x1.21075a1a0364cp-53, 0x1.3422c34e1771fp-48},
    {0x1.f52d2ef635f98p-48, 0x1.d95d9b05ebd26p-43}, {0x1.13117658a72f8p-42, 0x1.cc92bc0387777p-38},
    {0x1.9360e256b52b2p-38, 0x1.2b81d682e1214p-33}, {0x1.9e528f79b26f2p-34, 0x1.1101b3037a9fbp-29},
    {0x1.36ce52473090ep-30, 0x1.6bbf91d2d8fefp-26}, {0x1.615f0f995daddp-27, 0x1.6f9076c17eff4p-23},
    {0x1.3a8c332348078p-24, 0x1.230be7d3431fbp-20}, {0x1.c3347140979acp-22, 0x1.73c0158202a77p-18},
    {0x1.0b751ef664888p-19, 0x1.88dcb160fc530p-16}, {0x1.0bfd0775c84dfp-17, 0x1.5f52ed86901f5p-14},
    {0x1.cef51238ff5e5p-16, 0x1.0f3405bd9441fp-12}, {0x1.5ec9b640c10f7p-14, 0x1.6fd8f32c05496p-11},
    {0x1.d98e847e4ec14p-13, 0x1.bd31196b84d64p-10}, {0x1.20a4d6bf73dafp-11, 0x1.e76b31180f82dp-9},
    {0x1.419326deb1574p-10, 0x1.e8aaa74098e23p-8},  {0x1.4ae620a9f3b13p-9, 0x1.c578a52823b4bp-7},
    {0x1.3d6fc61d16f16p-8, 0x1.893b0f0005531p-6},   {0x1.1e3ff0eb23d7ep-7, 0x1.4157045013acap-5},
    {0x1.e8d17c8c3391dp-7, 0x1.f29f052d9434cp-5},   {0x1.8dbb6bda2ce21p-6, 0x1.71b85374ab8d0p-4},
    {0x1.3624f892edf2dp-5, 0x1.078919ccb9928p-3},   {0x1.d1df850ba625dp-5, 0x1.6b08192581c34p-3},
    {0x1.527fa9dbc678bp-4, 0x1.e572e0d6a53f2p-3},   {0x1.ddbac780be21ep-4, 0x1.3c57d8335a407p-2},
    {0x1.4887a17445226p-3, 0x1.9344d87b293cep-2},   {0x1.b9aefa10c5c60p-3, 0x1.f8687e129cbecp-2},
    {0x1.230001a0bf611p-2, 0x1.365f853675cd8p-1},   {0x1.78b56362cef38p-2, 0x1.78b56362cef38p-1},
    {0x1.e01733aad073ap-2, 0x1.c3e272c8d2812p-1},   {0x1.2dba3489b3957p-1, 0x1.0c5b3f60d3efap+0},
    {0x1.76aa88668482cp-1, 0x1.3c15c80d09068p+0},   {0x1.cc42d84cad645p-1, 0x1.71b6382dea099p+0},
    {0x1.18090fd4da7d6p+0, 0x1.aded7394fdc59p+0},   {0x1.51ebab0113024p+0, 0x1.f18aff34a36afp+0},
    {0x1.94c4bfc2903bap+0, 0x1.1ec026e2d506cp+1},   {0x1.e1b04d04b85c6p+0, 0x1.49722e3b2ba78p+1},
    {0x1.1cf7dfb7bb5a2p+1, 0x1.797be137b7d71p+1},   {0x1.4f77b68f2f146p+1, 0x1.af94a9b2d2057p+1},
    {0x1.892658387e511p+1, 0x1.ec8db9c7ab248p+1},   {0x1.caee5cfcec5ccp+1, 0x1.18aa8ea0a9985p+2},
    {0x1.0aed0d510e2dep+2, 0x1.3f7ca0b50f385p+2},   {0x1.358bf7fe29b8dp+2, 0x1.6b568173075cbp+2},
    {0x1.65ff8dbe59e73p+2, 0x1.9ce6294733451p+2},   {0x1.9d0a98613bf83p+2, 0x1.d4f0c20a3c117p+2},
    {0x1.db8a21d94288ap+2, 0x1.0a2ad6dfc446cp+3},   {0x1.113c7899911acp+3, 0x1.2e08fc5736707p+3},
    {0x1.3979be9c30e19p+3, 0x1.56a22231baed5p+3},   {0x1.671e3265c7d67p+3, 0x1.84989d839034fp+3},
    {0x1.9ae0bf8de05abp+3, 0x1.b8a44e4d3ee0bp+3},   {0x1.d590cc1285a67p+3, 0x1.f3957d0b97c27p+3},
    {0x1.0c0cbc2799935p+4, 0x1.1b2c0d4bb9064p+4},   {0x1.31c2a6df5eaeep+4, 0x1.40fbb7a03cb12p+4},
    {0x1.5c8135aab17fep+4, 0x1.6bd123e7a9ed8p+4},   {0x1.8cf3a01a68319p+4, 0x1.9c57d88b777f1p+4},
    {0x1.c3dbf3d9fdc7fp+4, 0x1.d3522a7d5700bp+4},   {0x1.010b0f0e4d28dp+5, 0x1.08ce23961cb17p+5},
    {0x1.244dae4fe7a32p+5, 0x1.2c17d3090d7e9p+5},   {0x1.4c43120778c1cp+5, 0x1.541377d0a7454p+5},
    {0x1.798b45b3d1ae1p+5, 0x1.8161349770a37p+5},   {0x1.acdba70a3c073p+5, 0x1.b4b67bc67ec46p+5},
    {0x1.e701bc66f7737p+5, 0x1.eee0e63220da7p+5},   {0x1.147335ff7114ap+6, 0x1.1864b541d3cc6p+6},
    {0x1.39c8d059dc74ap+6, 0x1.3dbc0120c643bp+6},   {0x1.64173591b20adp+6, 0x1.680be587364a3p+6},
    {0x1.9407d7be2519dp+6, 0x1.97fdda547385bp+6},   {0x1.ca5ab96a31e1fp+6, 0x1.ce51e73524220p+6},
    {0x1.03f4b74fe8a89p+7, 0x1.05f0d26032650p+7},   {0x1.26d5422d897e6p+7, 0x1.28d1d1fd877d9p+7},
    {0x1.4e5aae03bf90ep+7, 0x1.5057a4f1d42a3p+7},   {0x1.7b23453d72006p+7, 0x1.7d20973d1fbb3p+7},
    {0x1.ade265f7aa967p+7, 0x1.afe008630ee08p+7},   {0x1.e763506972becp+7, 0x1.e96139d7fb091p+7},
    {0x1.14462a79f6d49p+8, 0x1.15453e8adb84dp+8},   {0x1.3931374b97c7ep+8, 0x1.3a30670a477fap+8},
    {0x1.6306ac1d3aa99p+8, 0x1.6405f44b99ccfp+8},   {0x1.926e16912853bp+8, 0x1.936d7452187e5p+8},
};

#endif
